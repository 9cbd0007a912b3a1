balance = {"a": 1000, "b": 0}
refused = 0
log = []

class Denied(Exception):
    pass

class Scope:
    def __init__(self, parent=None):
        self.parent = parent
        self.rules = {}
    def check(self, cap):
        s = self
        while s is not None:
            if cap in s.rules:
                return s.rules[cap]
            s = s.parent
        return True

top = Scope()
top.rules = {"bank.read": True, "bank.transfer": True, "bank.admin": False}

def note(kind, name, event):
    log.append((kind, name, event))

def tool(scope, name, cap, fn, *args):
    if not scope.check(cap):
        note("tool", name, "denied")
        raise Denied("tool '%s' requires capability '%s', which is denied by policy" % (name, cap))
    note("tool", name, "called")
    return fn(*args)

class Transfer:
    def __init__(self, source, to, amount):
        self.source, self.to, self.amount, self.state = source, to, amount, "prepared"
        note("reversible", "transfer", "prepared")
    def require(self, scope):
        if not scope.check("bank.transfer"):
            self.state = "denied"
            note("reversible", "transfer", "denied")
            raise Denied("action 'transfer' requires capability 'bank.transfer', which is denied by policy")
    def verify(self, scope):
        self.require(scope)
        self.state = "verified"
        note("reversible", "transfer", "verified")
        return self
    def commit(self, scope):
        self.require(scope)
        balance[self.source] = balance[self.source] - self.amount
        balance[self.to] = balance[self.to] + self.amount
        self.state = "committed"
        note("reversible", "transfer", "committed")
    def rollback(self, scope):
        self.require(scope)
        balance[self.source] = balance[self.source] + self.amount
        balance[self.to] = balance[self.to] - self.amount
        self.state = "rolled_back"
        note("reversible", "transfer", "rolled_back")

def look(account):
    return balance[account]

def reset(account):
    balance[account] = 0

def step(i):
    global refused
    careful = Scope(top)
    careful.rules["bank.transfer"] = False
    try:
        Transfer("a", "b", i).verify(careful)
    except Denied:
        refused += 1
    t = Transfer("a", "b", i % 10).verify(top)
    t.commit(top)
    if tool(top, "look", "bank.read", look, "a") < 500:
        t.rollback(top)
    try:
        tool(top, "reset", "bank.admin", reset, "a")
    except Denied:
        refused += 1

for i in range(30000):
    step(i)
print("{a: %d, b: %d}" % (balance["a"], balance["b"]), refused, len(log))
