run examples/calculator.sns
run examples/calculator.sns "x = 2 ^ 10" "(x - 24) / 8"
