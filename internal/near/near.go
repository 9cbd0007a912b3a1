// Package near tells how alike two names are, for messages that propose what
// was probably meant.
package near

// longest is how many characters a name may have to be compared: the work grows
// with the product of both lengths.
const longest = 100

// Edits gives the number of characters to insert, delete or replace to turn a
// into b, or limit+1 where that takes more than limit or either is longer than
// 100 characters.
func Edits(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if len(x) > longest || len(y) > longest || len(x)-len(y) > limit || len(y)-len(x) > limit {
		return limit + 1
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j]+1, row[j+1]+1, diagonal+cost)
		}
	}
	return min(row[len(y)], limit+1)
}
