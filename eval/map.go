package eval

// Map is a mutable collection of values by String keys, in order of insertion.
type Map struct {
	hdr
	idx     map[string]int
	entries []mapEntry
	dead    int // removed entries still in place
}

type mapEntry struct {
	key  string
	v    Value
	live bool
}

// NewMap makes an empty Map.
func NewMap() *Map { return &Map{hdr: hdr{KMap}} }

// Value gives the Map as a value.
func (m *Map) Value() Value { return mkMap(m) }

// Len gives the number of entries.
func (m *Map) Len() int { return len(m.entries) - m.dead }

// Get gives the value of key.
func (m *Map) Get(key string) (Value, bool) {
	if i, ok := m.idx[key]; ok {
		return m.entries[i].v, true
	}
	return Value{}, false
}

// Set sets the value of key; a new key goes to the end.
func (m *Map) Set(key string, v Value) {
	if i, ok := m.idx[key]; ok {
		m.entries[i].v = v
		return
	}
	if m.idx == nil {
		m.idx = make(map[string]int)
	}
	m.idx[key] = len(m.entries)
	m.entries = append(m.entries, mapEntry{key, v, true})
}

// Remove takes key out and gives its value.
func (m *Map) Remove(key string) (Value, bool) {
	i, ok := m.idx[key]
	if !ok {
		return Value{}, false
	}
	v := m.entries[i].v
	m.entries[i] = mapEntry{}
	m.dead++
	delete(m.idx, key)
	if m.dead > 16 && m.dead > len(m.entries)/2 {
		m.compact()
	}
	return v, true
}

func (m *Map) compact() {
	kept := m.entries[:0]
	for _, e := range m.entries {
		if e.live {
			m.idx[e.key] = len(kept)
			kept = append(kept, e)
		}
	}
	clear(m.entries[len(kept):])
	m.entries, m.dead = kept, 0
}

// Keys gives the keys in order.
func (m *Map) Keys() []string {
	out := make([]string, 0, m.Len())
	for _, e := range m.entries {
		if e.live {
			out = append(out, e.key)
		}
	}
	return out
}
