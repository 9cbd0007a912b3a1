import json

def document(n):
    items = []
    for i in range(n):
        items.append({"id": i, "name": "item " + str(i), "tags": ["a", "b", str(i % 7)], "price": i / 4, "stock": {"here": i % 13, "there": None}})
    return {"kind": "catalogue", "items": items}

text = json.dumps(document(3000))
sum = 0
for round in range(8):
    doc = json.loads(text)
    for item in doc["items"]:
        item["stock"]["there"] = item["stock"]["here"] * 2
        sum += item["stock"]["there"] + len(item["tags"])
    out = json.dumps(doc)
print(len(text), len(out), sum, doc["items"][2999]["name"])
