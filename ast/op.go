package ast

// Op is an operator.
type Op uint8

// The operators. OpNone is the zero value: a plain assignment.
const (
	OpNone Op = iota
	OpAdd
	OpSub
	OpMul
	OpDiv
	OpMod
	OpFloorDiv
	OpPow
	OpEq
	OpNe
	OpLt
	OpLe
	OpGt
	OpGe
	OpIn
	OpNotIn
	OpAnd
	OpOr
	OpNot
	OpNeg
)

var opText = [...]string{"", "+", "-", "*", "/", "%", "//", "**", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or", "not", "-"}

// String gives the operator as it is written.
func (o Op) String() string { return opText[o] }
