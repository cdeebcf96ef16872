// SPDX-License-Identifier: MIT
// go-redis v9: its whole interface for BF, CF and CMS.
//
//	main PORT PROTOCOL
package main

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

var (
	ctx   = context.Background()
	calls int
)

func die(format string, arguments ...any) {
	fmt.Printf(format+"\n", arguments...)
	os.Exit(1)
}

// same takes what a command's Result() gives, and what that should have been.
func same[T any](name string, got T, err error, wanted T) {
	calls++
	if err != nil || !reflect.DeepEqual(got, wanted) {
		die("%s: %v (%v) instead of %v", name, got, err, wanted)
	}
}

func well(name string, err error) {
	calls++
	if err != nil {
		die("%s: %v", name, err)
	}
}

func refused(name string, err error, text string) {
	calls++
	if err == nil || !strings.Contains(err.Error(), text) {
		die("%s: %v instead of %s", name, err, text)
	}
}

func bloom(c *redis.Client) {
	well("reserve", c.BFReserve(ctx, "b0", 0.01, 100).Err())
	well("reserve", c.BFReserveExpansion(ctx, "b1", 0.01, 100, 3).Err())
	well("reserve", c.BFReserveNonScaling(ctx, "n", 0.01, 100).Err())
	well("reserve", c.BFReserveWithArgs(ctx, "b", &redis.BFReserveOptions{Capacity: 1000, Error: 0.001, Expansion: 4}).Err())
	refused("reserve", c.BFReserve(ctx, "b", 0.01, 100).Err(), "item exists")
	got, err := c.BFAdd(ctx, "b", "a").Result()
	same("add", got, err, true)
	got, err = c.BFAdd(ctx, "b", "a").Result()
	same("add", got, err, false)
	many, err := c.BFMAdd(ctx, "b", "a", "x", "y").Result()
	same("madd", many, err, []bool{false, true, true})
	got, err = c.BFExists(ctx, "b", "x").Result()
	same("exists", got, err, true)
	many, err = c.BFMExists(ctx, "b", "a", "never", "y").Result()
	same("mexists", many, err, []bool{true, false, true})
	many, err = c.BFInsert(ctx, "i", &redis.BFInsertOptions{Capacity: 50, Error: 0.01, Expansion: 2}, "p", "q").Result()
	same("insert", many, err, []bool{true, true})
	refused("insert", c.BFInsert(ctx, "absent", &redis.BFInsertOptions{NoCreate: true}, "p").Err(), "not found")
	card, err := c.BFCard(ctx, "b").Result()
	same("card", card, err, 3)
	bloomInfo(c)
	copyBy(func(at int64) (redis.ScanDump, error) { return c.BFScanDump(ctx, "b", at).Result() },
		func(at int64, data string) error { return c.BFLoadChunk(ctx, "b2", at, data).Err() })
	many, err = c.BFMExists(ctx, "b2", "a", "x", "y", "never").Result()
	same("mexists of a copy", many, err, []bool{true, true, true, false})
}

func bloomInfo(c *redis.Client) {
	info, err := c.BFInfo(ctx, "b").Result()
	well("info", err)
	if info.Capacity != 1000 || info.Filters != 1 || info.ItemsInserted != 3 || info.ExpansionRate != 4 || info.Size < 1 {
		die("info: %+v", info)
	}
	info, err = c.BFInfoCapacity(ctx, "b").Result()
	same("info capacity", info.Capacity, err, 1000)
	info, err = c.BFInfoItems(ctx, "b").Result()
	same("info items", info.ItemsInserted, err, 3)
	info, err = c.BFInfoFilters(ctx, "b").Result()
	same("info filters", info.Filters, err, 1)
	info, err = c.BFInfoExpansion(ctx, "b").Result()
	same("info expansion", info.ExpansionRate, err, 4)
	well("info size", c.BFInfoSize(ctx, "b").Err())
}

func copyBy(dump func(int64) (redis.ScanDump, error), load func(int64, string) error) {
	for at := int64(0); ; {
		chunk, err := dump(at)
		// CF ends with an absent chunk, which this client tells as an error of its own.
		if err == redis.Nil {
			return
		}
		well("scandump", err)
		if chunk.Iter == 0 {
			return
		}
		at = chunk.Iter
		well("loadchunk", load(at, chunk.Data))
	}
}

func cuckoo(c *redis.Client) {
	well("reserve", c.CFReserve(ctx, "c0", 1000).Err())
	well("reserve", c.CFReserveExpansion(ctx, "c1", 1000, 2).Err())
	well("reserve", c.CFReserveBucketSize(ctx, "c3", 1000, 4).Err())
	well("reserve", c.CFReserveMaxIterations(ctx, "c4", 1000, 30).Err())
	options := redis.CFReserveOptions{Capacity: 1000, BucketSize: 4, MaxIterations: 30, Expansion: 2}
	well("reserve", c.CFReserveWithArgs(ctx, "c", &options).Err())
	got, err := c.CFAdd(ctx, "c", "a").Result()
	same("add", got, err, true)
	got, err = c.CFAddNX(ctx, "c", "a").Result()
	same("addnx", got, err, false)
	got, err = c.CFAdd(ctx, "c", "a").Result()
	same("add", got, err, true)
	count, err := c.CFCount(ctx, "c", "a").Result()
	same("count", count, err, 2)
	many, err := c.CFInsert(ctx, "c", &redis.CFInsertOptions{Capacity: 500}, "x", "y").Result()
	same("insert", many, err, []bool{true, true})
	numbers, err := c.CFInsertNX(ctx, "c", &redis.CFInsertOptions{Capacity: 500}, "x", "z").Result()
	same("insertnx", numbers, err, []int64{0, 1})
	refused("insert", c.CFInsert(ctx, "absent", &redis.CFInsertOptions{NoCreate: true}, "x").Err(), "not found")
	got, err = c.CFDel(ctx, "c", "a").Result()
	same("del", got, err, true)
	got, err = c.CFExists(ctx, "c", "a").Result()
	same("exists", got, err, true)
	many, err = c.CFMExists(ctx, "c", "a", "never").Result()
	same("mexists", many, err, []bool{true, false})
	info, err := c.CFInfo(ctx, "c").Result()
	well("info", err)
	if info.BucketSize != 4 || info.MaxIteration != 30 || info.ExpansionRate != 2 || info.NumItemsInserted != 4 || info.NumItemsDeleted != 1 {
		die("info: %+v", info)
	}
	copyBy(func(at int64) (redis.ScanDump, error) { return c.CFScanDump(ctx, "c", at).Result() },
		func(at int64, data string) error { return c.CFLoadChunk(ctx, "c2", at, data).Err() })
	many, err = c.CFMExists(ctx, "c2", "a", "x", "y", "z", "never").Result()
	same("mexists of a copy", many, err, []bool{true, true, true, true, false})
}

func sketch(c *redis.Client) {
	well("init", c.CMSInitByDim(ctx, "m", 1000, 5).Err())
	well("init", c.CMSInitByProb(ctx, "p", 0.01, 0.01).Err())
	numbers, err := c.CMSIncrBy(ctx, "m", "a", 4, "b", 5).Result()
	same("incrby", numbers, err, []int64{4, 5})
	numbers, err = c.CMSQuery(ctx, "m", "a", "b", "never").Result()
	same("query", numbers, err, []int64{4, 5, 0})
	info, err := c.CMSInfo(ctx, "m").Result()
	same("info", info, err, redis.CMSInfo{Width: 1000, Depth: 5, Count: 9})
	well("init", c.CMSInitByDim(ctx, "m2", 1000, 5).Err())
	well("merge", c.CMSMerge(ctx, "m2", "m", "m").Err())
	numbers, err = c.CMSQuery(ctx, "m2", "a", "b").Result()
	same("query", numbers, err, []int64{8, 10})
	well("merge", c.CMSMergeWithWeight(ctx, "m2", map[string]int64{"m": 3}).Err())
	numbers, err = c.CMSQuery(ctx, "m2", "a", "b").Result()
	same("query", numbers, err, []int64{12, 15})
	refused("query", c.CMSQuery(ctx, "absent", "a").Err(), "key does not exist")
}

func main() {
	protocol, err := strconv.Atoi(os.Args[2])
	well("protocol", err)
	c := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + os.Args[1], Protocol: protocol})
	well("flushall", c.FlushAll(ctx).Err())
	bloom(c)
	cuckoo(c)
	sketch(c)
	fmt.Printf("%d calls\n", calls)
}
