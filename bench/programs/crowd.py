def make(k):
    state = {"done": 0}
    def worker():
        rate = k + 1
        n = yield
        while n != 0:
            state["done"] = state["done"] + n * rate % 7
            n = yield
    g = worker()
    next(g)
    return g, state

def resume(g, n):
    try:
        g.send(n)
    except StopIteration:
        pass

workers = []
for k in range(50):
    workers.append(make(k))
for i in range(400):
    for g, _ in workers:
        resume(g, i + 1)
total = 0
for g, state in workers:
    total = total + state["done"]
    resume(g, 0)
print(total, "completed", workers[49][1]["done"])

import queue, threading
mail = queue.Queue()
sums = [0]
def counter():
    m = mail.get()
    while m is not None:
        sums[0] = sums[0] + m
        m = mail.get()
t = threading.Thread(target=counter)
t.start()
for i in range(20000):
    mail.put(i)
mail.put(None)
t.join()
print(sums[0])
