module example.invalid/says

go 1.21
