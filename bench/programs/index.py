words = ["policy", "agent", "action", "tool", "memory", "audit", "rollback", "approve", "session", "model", "answer", "limit"]

def line(i):
    out = []
    n = i
    for k in range(8):
        n = (n * 7919 + 13) % 10007
        out.append(words[n % 12])
    return " ".join(out)

def build(lines):
    index = {}
    for i in range(len(lines)):
        for w in lines[i].upper().lower().split(" "):
            if w in index:
                index[w].append(i)
            else:
                index[w] = [i]
    return index

def both(a, b):
    i = 0
    j = 0
    n = 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            n += 1
            i += 1
            j += 1
        elif a[i] < b[j]:
            i += 1
        else:
            j += 1
    return n

lines = []
for i in range(60000):
    lines.append(line(i))
index = build(lines)
for w in words:
    print(w, len(index[w]), both(index[w], index["policy"]))
