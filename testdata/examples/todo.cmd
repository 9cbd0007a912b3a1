run examples/todo.sns
run examples/todo.sns add Buy oat milk
run examples/todo.sns add Call Ann
run examples/todo.sns add Sweep the yard
run examples/todo.sns done 2
run examples/todo.sns
run examples/todo.sns undo
run examples/todo.sns drop 1
run examples/todo.sns all
run examples/todo.sns undo
run examples/todo.sns all
run examples/todo.sns history 2
run examples/todo.sns help
run examples/todo.sns history 1
