regions = ["north", "south", "east", "west"]

def records(n):
    out = []
    seed = 7
    for i in range(n):
        seed = (seed * 1103515245 + 12345) % 2147483648
        out.append({"id": i, "region": regions[seed % 4], "amount": seed % 9973, "paid": seed % 3 != 0})
    return out

def summarise(rows):
    totals = {}
    for r in rows:
        key = r["region"]
        if key not in totals:
            totals[key] = {"count": 0, "sum": 0, "open": 0}
        t = totals[key]
        t["count"] += 1
        t["sum"] += r["amount"]
        if not r["paid"]:
            t["open"] += r["amount"]
    return totals

def largest(rows, n):
    by_amount = sorted(filter(lambda r: r["paid"], rows), key=lambda r: 0 - r["amount"])
    return by_amount[:n]

rows = records(200000)
for round in range(5):
    totals = summarise(rows)
for name in regions:
    t = totals[name]
    print(f"{name}: {t['count']} records, {t['sum']} in all, {t['open']} open, mean {t['sum'] / t['count']:.2f}")
for r in largest(rows, 10):
    print(r["id"], r["region"], r["amount"])
