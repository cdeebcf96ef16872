module tamis/clients

go 1.21

require github.com/redis/go-redis/v9 v9.23.0
