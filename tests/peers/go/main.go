// SPDX-License-Identifier: MIT
// The other side of go.sh: Go packages that read and write filters, as lines that peer.c describes.
//
//	peer write < WISHES > CASES   filters made by the package, with its answers
//	peer read < CASES             are our bytes and answers those of the package?
//
// "how SYSTEM N P [little]" says which package, and for what.
package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	dcso "github.com/DCSO/bloom"
	"github.com/bits-and-blooms/bitset"
	"github.com/bits-and-blooms/bloom/v3"
)

type filter interface {
	add(key []byte)
	has(key []byte) bool
	bytes() []byte
}

type goBloom struct {
	f      *bloom.BloomFilter
	isJSON bool
}

func (b goBloom) add(key []byte)      { b.f.Add(key) }
func (b goBloom) has(key []byte) bool { return b.f.Test(key) }
func (b goBloom) bytes() []byte {
	if b.isJSON {
		text, err := json.Marshal(b.f)
		sure(err)
		return text
	}
	var out bytes.Buffer
	_, err := b.f.WriteTo(&out)
	sure(err)
	return out.Bytes()
}

type dcsoBloom struct{ f *dcso.BloomFilter }

func (b dcsoBloom) add(key []byte)      { b.f.Add(key) }
func (b dcsoBloom) has(key []byte) bool { return b.f.Check(key) }
func (b dcsoBloom) bytes() []byte {
	var out bytes.Buffer
	sure(b.f.Write(&out))
	return out.Bytes()
}

func sure(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

type trial struct {
	format, how, spec string
	added, asked      [][]byte
	answers           []bool
	bytes             []byte
}

func (t *trial) words() (system string, n uint64, p float64) {
	w := strings.Fields(t.how)
	n, err := strconv.ParseUint(w[1], 10, 64)
	sure(err)
	p, err = strconv.ParseFloat(w[2], 64)
	sure(err)
	bitset.BigEndian()
	if len(w) > 3 {
		bitset.LittleEndian()
	}
	return w[0], n, p
}

func (t *trial) anew() filter {
	var f filter
	system, n, p := t.words()
	if system == "dcso" {
		b := dcso.Initialize(n, p)
		f = dcsoBloom{&b}
	} else {
		f = goBloom{bloom.NewWithEstimates(uint(n), p), system == "json"}
	}
	for _, key := range t.added {
		f.add(key)
	}
	return f
}

func (t *trial) stored() filter {
	switch system, _, _ := t.words(); system {
	case "dcso":
		var b dcso.BloomFilter
		sure(b.Read(bytes.NewReader(t.bytes)))
		return dcsoBloom{&b}
	case "json":
		var b bloom.BloomFilter
		sure(json.Unmarshal(t.bytes, &b))
		return goBloom{&b, true}
	default:
		var b bloom.BloomFilter
		_, err := b.ReadFrom(bytes.NewReader(t.bytes))
		sure(err)
		return goBloom{&b, false}
	}
}

func (t *trial) write(out *bufio.Writer) {
	f := t.anew()
	fmt.Fprintf(out, "case %s\nhow %s\nspec %s\n", t.format, t.how, t.spec)
	for _, key := range t.added {
		fmt.Fprintf(out, "add %x\n", key)
	}
	fmt.Fprintf(out, "bytes %x\n", f.bytes())
	for _, key := range t.asked {
		bit := 0
		if f.has(key) {
			bit = 1
		}
		fmt.Fprintf(out, "ask %d %x\n", bit, key)
	}
	fmt.Fprintln(out, "end")
}

func (t *trial) check() string {
	for i, f := range []filter{t.stored(), t.anew()} {
		for j, key := range t.asked {
			if f.has(key) != t.answers[j] {
				return fmt.Sprintf("%d: another answer for %x", i, key)
			}
		}
		if !bytes.Equal(f.bytes(), t.bytes) {
			return fmt.Sprintf("%d: other bytes: %x and %x", i, f.bytes(), t.bytes)
		}
	}
	return ""
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	filters, answers := 0, 0
	var t trial
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			break
		}
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch word {
		case "case":
			t = trial{format: rest}
		case "how":
			t.how = rest
		case "spec":
			t.spec = rest
		case "add", "bytes":
			key, err := hex.DecodeString(rest)
			sure(err)
			if word == "add" {
				t.added = append(t.added, key)
			} else {
				t.bytes = key
			}
		case "ask":
			key, err := hex.DecodeString(rest[2:])
			sure(err)
			t.asked = append(t.asked, key)
			t.answers = append(t.answers, rest[0] == '1')
		case "end":
			filters++
			answers += 2 * len(t.asked)
			if os.Args[1] == "write" {
				t.write(out)
			} else if what := t.check(); what != "" {
				fmt.Printf("filter %d, %s, %s: %s\n", filters, t.how, t.spec, what)
				os.Exit(1)
			}
		}
	}
	out.Flush()
	if os.Args[1] == "read" {
		fmt.Printf("%d filters, %d answers\n", filters, answers)
	}
}
