// SPDX-License-Identifier: Apache-2.0

// catalogue HOST PORT: the same shop in Go, by cgo and the C library. It needs no module.
package main

/*
#cgo pkg-config: heatsink
#include <heatsink.h>
#include <stdlib.h>

int load(void* user, char* key, size_t key_size, heatsink_reply* reply);  // below, in Go
*/
import "C"

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"
)

// Where the values come from, and how often the library asked.
var (
	server string
	loads  atomic.Int64
)

// redisGet is a minimal GET, so that the example needs no Redis client. Call your own client
// instead. A nil slice: there is no such key.
func redisGet(key string) ([]byte, error) {
	connection, err := net.Dial("tcp", server)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	fmt.Fprintf(connection, "*2\r\n$3\r\nGET\r\n$%d\r\n%s\r\n", len(key), key)
	reader := bufio.NewReader(connection)
	head, err := reader.ReadString('\n')
	if err != nil {
		return nil, err
	}
	size, err := strconv.Atoi(strings.Trim(head, "$\r\n"))
	if err != nil || size < 0 {
		return nil, err
	}
	value := make([]byte, size)
	_, err = io.ReadFull(reader, value)
	return value, err
}

// Any thread calls it, the client's own threads, too. It must not panic.
//
//export load
func load(_ unsafe.Pointer, key *C.char, size C.size_t, reply *C.heatsink_reply) C.int {
	loads.Add(1)
	value, err := redisGet(C.GoStringN(key, C.int(size)))
	if err != nil {
		text := C.CString(err.Error())
		defer C.free(unsafe.Pointer(text))
		C.heatsink_reply_error(reply, text)
		return C.HEATSINK_FAILED
	}
	if value == nil {
		return C.HEATSINK_NONE
	}
	bytes := C.CBytes(value)
	defer C.free(bytes)
	return C.heatsink_reply_value(reply, (*C.char)(bytes), C.size_t(len(value)))
}

type catalogue struct {
	client *C.heatsink_client
	loader *C.heatsink_loader
}

func open() (*catalogue, error) {
	runtime.LockOSThread() // for the text of an error
	defer runtime.UnlockOSThread()
	options := C.heatsink_options_new()
	defer C.heatsink_options_free(options)
	// Lower thresholds than in a service: this program is the only reader.
	yaml := C.CString("detection: {hot-qps: 100}")
	defer C.free(unsafe.Pointer(yaml))
	opened := &catalogue{loader: C.heatsink_loader_new((C.heatsink_load_fn)(C.load), nil, nil)}
	if C.heatsink_options_yaml(options, yaml) != C.HEATSINK_OK ||
		C.heatsink_open(options, &opened.client) != C.HEATSINK_OK {
		defer opened.close()
		return nil, errors.New(C.GoString(C.heatsink_last_error()))
	}
	return opened, nil
}

func (c *catalogue) close() {
	C.heatsink_free(c.client)
	C.heatsink_loader_free(c.loader)
}

// get copies the value: a view would have to be released by the thread that took it, and a
// goroutine may change its thread. The text of an error belongs to its thread, too.
func (c *catalogue) get(key string) (string, bool, error) {
	name := C.CString(key)
	defer C.free(unsafe.Pointer(name))
	var buffer [4096]C.char
	var size C.size_t
	code := C.heatsink_get_copy(c.client, name, C.size_t(len(key)), c.loader, &buffer[0],
		C.size_t(len(buffer)), &size)
	switch code {
	case C.HEATSINK_OK:
		return C.GoStringN(&buffer[0], C.int(size)), true, nil
	case C.HEATSINK_NONE:
		return "", false, nil
	}
	return "", false, fmt.Errorf("heatsink: error %d", int(code))
}

func (c *catalogue) isHot(key string) bool {
	name := C.CString(key)
	defer C.free(unsafe.Pointer(name))
	return C.heatsink_is_hot(c.client, name, C.size_t(len(key))) == 1
}

func run() error {
	if len(os.Args) != 3 {
		return errors.New("usage: catalogue HOST PORT")
	}
	server = net.JoinHostPort(os.Args[1], os.Args[2])
	shop, err := open()
	if err != nil {
		return err
	}
	defer shop.close()
	for !shop.isHot("product:1") {
		if _, _, err := shop.get("product:1"); err != nil {
			return err
		}
	}
	before, price := loads.Load(), ""
	for i := 0; i < 1000; i++ {
		if price, _, err = shop.get("product:1"); err != nil {
			return err
		}
	}
	fmt.Printf("product:1 costs %s\n", price)
	fmt.Printf("%d of 1000 reads did not reach the server\n", 1000-(loads.Load()-before))
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
