package eval

import (
	"hash/maphash"
	"iter"
	"slices"
	"unsafe"
)

// Map is a mutable collection of values by String keys, in order of insertion.
type Map struct {
	hdr
	dead    uint32 // removed entries still in place
	idx     *index // nil while the map is small
	entries []mapEntry
}

// mapEntry is an entry; one that was removed has no key.
type mapEntry struct {
	key *Str
	v   Value
}

// Maps of so many entries, which literals make, come with room for them: one
// allocation in place of two. trees: 0.11 s without, 0.09 s with it.
type (
	map1 struct {
		Map
		d [1]mapEntry
	}
	map2 struct {
		Map
		d [2]mapEntry
	}
	map3 struct {
		Map
		d [3]mapEntry
	}
	map4 struct {
		Map
		d [4]mapEntry
	}
)

// NewMap makes an empty Map.
func NewMap() *Map { return &Map{hdr: hdr{KMap}} }

// newMapOf makes an empty Map with room for n entries.
func newMapOf(n int) *Map {
	switch n {
	case 0:
		return NewMap()
	case 1:
		m := &map1{}
		m.k, m.entries = KMap, m.d[:0]
		return &m.Map
	case 2:
		m := &map2{}
		m.k, m.entries = KMap, m.d[:0]
		return &m.Map
	case 3:
		m := &map3{}
		m.k, m.entries = KMap, m.d[:0]
		return &m.Map
	case 4:
		m := &map4{}
		m.k, m.entries = KMap, m.d[:0]
		return &m.Map
	}
	m := NewMap()
	m.entries = make([]mapEntry, 0, n)
	return m
}

// Value gives the Map as a value.
func (m *Map) Value() Value { return mkMap(m) }

// Len gives the number of entries.
func (m *Map) Len() int { return len(m.entries) - int(m.dead) }

// smallMap is up to how many entries a Map is searched one by one: a record of
// a few fields needs no table. A report over 200,000 records: 0.98 s with a
// table for each, 0.45 s without.
const smallMap = 8

// seed keeps keys that collide from being made on purpose.
var seed = maphash.MakeSeed()

// hashOf gives the hash of a text, which is not 0.
func hashOf(s string) uint32 { return uint32(maphash.String(seed, s))>>8 | 1 }

// hash gives the hash of x's text, which it keeps.
func (x *Str) hash() uint32 {
	if x.h0 == 0 {
		h := hashOf(x.s)
		x.h0, x.h1 = uint8(h), uint16(h>>8)
	}
	return uint32(x.h0) | uint32(x.h1)<<8
}

// index is a table from hashes to places among the entries: each slot holds a
// hash in its upper half, and in the lower one the place + 1. There is always a
// free slot behind.
type index struct {
	slots []uint64
	shift uint8
	used  int // slots that are not free
}

// gone marks a slot whose entry was removed.
const gone = 1<<32 - 1

// spread gives the first slot of a hash.
func (x *index) spread(h uint32) uint64 { return uint64(h) * 0x9E3779B97F4A7C15 >> x.shift }

// lookup gives the place of s and the slot that holds it, -1 where it is not there.
func (m *Map) lookup(s string, h uint32) (place int, slot uint64) {
	x := m.idx
	mask := uint64(len(x.slots) - 1)
	for i := x.spread(h); ; i = (i + 1) & mask {
		e := x.slots[i&mask]
		if e == 0 {
			return -1, 0
		}
		if uint32(e>>32) == h && uint32(e) != gone {
			if p := int(uint32(e)) - 1; m.entries[p].key.s == s {
				return p, i
			}
		}
	}
}

// find gives the place of a text, -1 where it is none of the keys.
func (m *Map) find(s string) int {
	if m.idx != nil {
		p, _ := m.lookup(s, hashOf(s))
		return p
	}
	return m.scan(s)
}

// findStr is find for a String, which keeps its hash.
func (m *Map) findStr(k *Str) int {
	if m.idx != nil {
		p, _ := m.lookup(k.s, k.hash())
		return p
	}
	return m.scan(k.s)
}

func (m *Map) scan(s string) int {
	for i := range m.entries {
		if k := m.entries[i].key; k != nil && k.s == s {
			return i
		}
	}
	return -1
}

// Get gives the value of key.
func (m *Map) Get(key string) (Value, bool) {
	if i := m.find(key); i >= 0 {
		return m.entries[i].v, true
	}
	return Value{}, false
}

// GetKey is Get by a key that is a String.
func (m *Map) GetKey(key Value) (Value, bool) {
	if i := m.findStr(toStr(key)); i >= 0 {
		return m.entries[i].v, true
	}
	return Value{}, false
}

// Set sets the value of key; a new key goes to the end.
func (m *Map) Set(key string, v Value) {
	if i := m.find(key); i >= 0 {
		m.entries[i].v = v
		return
	}
	m.add(toStr(newStr(key)), v)
}

// SetKey is Set by a key that is a String.
func (m *Map) SetKey(key, v Value) {
	if i := m.findStr(toStr(key)); i >= 0 {
		setSlot(&m.entries[i].v, v)
		return
	}
	m.add(toStr(key), v)
}

// add puts an entry with a new key at the end.
func (m *Map) add(k *Str, v Value) {
	if m.entries == nil {
		m.entries = make([]mapEntry, 0, 4)
	}
	m.entries = append(m.entries, mapEntry{k, v})
	switch x := m.idx; {
	case x == nil && len(m.entries) <= smallMap:
	case x == nil, (x.used+1)*4 > len(x.slots)*3:
		m.reindex()
	default:
		x.put(k.hash(), len(m.entries)-1)
	}
}

// growth is how many bytes one more entry takes at once, where the entries or
// their table must grow: the old ones are there until the new ones are.
func (m *Map) growth() (n int64) {
	if len(m.entries) == cap(m.entries) {
		n = int64(len(m.entries)) * int64(unsafe.Sizeof(mapEntry{})) * 5 / 4
	}
	if x := m.idx; x != nil && (x.used+1)*4 > len(x.slots)*3 {
		n += int64(len(x.slots)) * 2 * 8
	}
	return n
}

// Bytes is about the memory that a copy of the Map takes, without its values.
func (m *Map) Bytes() int64 { return int64(m.Len()) * (int64(unsafe.Sizeof(mapEntry{})) + 24) }

func (x *index) put(h uint32, place int) {
	mask := uint64(len(x.slots) - 1)
	i := x.spread(h)
	for x.slots[i&mask] != 0 {
		i++
	}
	x.slots[i&mask] = uint64(h)<<32 | uint64(uint32(place+1))
	x.used++
}

// reindex makes the table of places, with room for as many again.
func (m *Map) reindex() {
	n, shift := 16, uint8(60)
	for n < 2*m.Len()+2 {
		n, shift = 2*n, shift-1
	}
	m.idx = &index{slots: make([]uint64, n), shift: shift}
	for i := range m.entries {
		if k := m.entries[i].key; k != nil {
			m.idx.put(k.hash(), i)
		}
	}
}

// Remove takes key out and gives its value.
func (m *Map) Remove(key string) (Value, bool) {
	var i int
	if m.idx == nil {
		i = m.scan(key)
	} else {
		var slot uint64
		if i, slot = m.lookup(key, hashOf(key)); i >= 0 {
			s := m.idx.slots
			s[slot&uint64(len(s)-1)] |= gone
		}
	}
	if i < 0 {
		return Value{}, false
	}
	v := m.entries[i].v
	m.entries[i] = mapEntry{}
	m.dead++
	if m.dead > 16 && int(m.dead) > len(m.entries)/2 {
		m.compact()
	}
	return v, true
}

func (m *Map) compact() {
	m.entries = slices.DeleteFunc(m.entries, func(e mapEntry) bool { return e.key == nil })
	m.dead, m.idx = 0, nil
	if len(m.entries) > smallMap {
		m.reindex()
	}
}

// All gives the entries in order. The map must not change meanwhile.
func (m *Map) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for i := range m.entries {
			if e := &m.entries[i]; e.key != nil && !yield(e.key.s, e.v) {
				return
			}
		}
	}
}

// Next gives the first entry at or after a place, and the place behind it, for
// those who cannot use All. There must be one.
func (m *Map) Next(place int) (key string, v Value, next int) {
	for m.entries[place].key == nil {
		place++
	}
	return m.entries[place].key.s, m.entries[place].v, place + 1
}

// Keys gives the keys in order.
func (m *Map) Keys() []string {
	out := make([]string, 0, m.Len())
	for k := range m.All() {
		out = append(out, k)
	}
	return out
}

// KeyValues gives the keys in order as Strings.
func (m *Map) KeyValues() []Value {
	out := make([]Value, 0, m.Len())
	for i := range m.entries {
		if k := m.entries[i].key; k != nil {
			out = append(out, mkStr(k))
		}
	}
	return out
}

// Copy gives a new Map of the same entries.
func (m *Map) Copy() *Map {
	out := newMapOf(m.Len())
	for i := range m.entries {
		if e := &m.entries[i]; e.key != nil {
			out.add(e.key, e.v)
		}
	}
	return out
}
