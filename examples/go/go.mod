module example/catalogue

go 1.19
