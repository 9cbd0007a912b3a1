# The Python side of the bridge: one request a line on descriptor 3, one reply a line on descriptor 4.
def bridge():
    import sys
    if sys.path and sys.path[0] == "":
        del sys.path[0]  # modules lie where Python looks for them, not wherever the program is run
    import importlib, json, os, signal

    limit = 64 << 20  # characters of one reply
    deepest = 200  # lists within each other
    for fd in (3, 4):
        os.set_inheritable(fd, False)
    requests = os.fdopen(3, "rb")
    marks = [os.dup(1), os.dup(2)]  # not inheritable; of our own, whatever a module does to 1 and 2
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
        except (AttributeError, ValueError):
            pass

    objects = {}
    state = {"busy": False, "last": 0}

    class TooDeep(Exception):
        pass

    class Gone(Exception):
        pass

    def interrupted(signum, frame):
        if state["busy"]:
            state["busy"] = False
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupted)

    def keep(value):
        state["last"] += 1
        objects[state["last"]] = value
        return {"h": state["last"], "t": type(value).__name__, "c": callable(value)}

    def pack(value, depth=0):
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, int):
            value = int.__pos__(value)
            return value if -(2**53) < value < 2**53 else {"i": "%x" % value}
        if isinstance(value, float):
            value = float.__pos__(value)
            return value if value - value == 0 else {"f": float.__repr__(value)}
        if isinstance(value, list):
            if depth == deepest:
                raise TooDeep
            return [pack(item, depth + 1) for item in list.__iter__(value)]
        return keep(value)

    def unpack(value):
        if isinstance(value, list):
            return [unpack(item) for item in value]
        if not isinstance(value, dict):
            return value
        if "i" in value:
            return int(value["i"], 16)
        if "f" in value:
            return float(value["f"])
        return find(value["h"])

    def find(number):
        try:
            return objects[number]
        except KeyError:
            raise Gone from None

    def text(error):
        try:
            return str(error)
        except Exception:
            return "<unprintable %s object>" % type(error).__name__

    def load(r):
        name = r["k"]
        if name == "" or name.startswith("."):
            raise ModuleNotFoundError("the name must be absolute")
        return keep(importlib.import_module(name))

    def attribute(r):
        target = find(r["h"])
        try:
            value = getattr(target, r["k"])
        except AttributeError:
            return None
        return [keep(value) if callable(value) else pack(value)]

    def call(r):
        return pack(find(r["h"])(*unpack(r["a"])))

    def index(r):
        return pack(find(r["h"])[unpack(r["a"])[0]])

    def set_index(r):
        key, value = unpack(r["a"])
        find(r["h"])[key] = value

    def show(r):
        target = find(r["h"])
        try:
            return str(target) + ""
        except Exception:
            return "<python %s>" % type(target).__name__

    def equal(r):
        a, b = unpack(r["a"])
        return bool(a == b)

    def argv(r):
        if r["a"]:
            sys.argv = r["a"]

    operations = {"import": load, "attr": attribute, "call": call, "index": index, "set": set_index, "str": show, "equal": equal, "argv": argv}

    def run(r):
        try:
            try:
                state["busy"] = True
                value = operations[r["op"]](r)
            finally:
                state["busy"] = False
            line = json.dumps({"n": r["n"], "ok": value})
            if len(line) > limit:
                return json.dumps({"n": r["n"], "err": ["ValueError", "the result is larger than %d bytes" % limit]})
            return line
        except Gone:
            return json.dumps({"n": r["n"], "gone": True})
        except TooDeep:
            return json.dumps({"n": r["n"], "err": ["ValueError", "a list that is nested too deep or contains itself"]})
        except SystemExit as error:
            code = error.code
            if code is None or isinstance(code, int):
                return json.dumps({"n": r["n"], "exit": [(code or 0) & 255, ""]})
            return json.dumps({"n": r["n"], "exit": [1, text(code)]})
        except BaseException as error:
            found = isinstance(error, ImportError)
            return json.dumps({"n": r["n"], "err": [type(error).__name__, text(error)[:100000]], "import": found})

    def reply(line, mark):
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass
        for fd in marks:
            os.write(fd, mark)
        data = (line + "\n").encode("ascii")
        while data:
            data = data[os.write(4, data):]

    token = None
    for line in requests:
        r = json.loads(line.decode("utf-8"))
        token = token or r["token"]
        for number in r.get("free", ()):
            objects.pop(number, None)
        answer = run(r)
        reply(answer, ("\0sense-%s-%d\0" % (token, r["n"])).encode("ascii"))


bridge()
