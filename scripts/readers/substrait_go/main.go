// Reads plans by substrait-go, which is given an extension file, and writes why it can't for each that it can't read.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/substrait-io/substrait-go/v8/extensions"
	"github.com/substrait-io/substrait-go/v8/plan"
	"github.com/substrait-io/substrait-protobuf/go/substraitpb"
	"google.golang.org/protobuf/proto"
)

func main() {
	functions := extensions.GetDefaultCollectionWithNoError()
	extension, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if err := functions.Load("file:///"+filepath.Base(os.Args[1]), extension); err != nil {
		log.Fatal(err)
	}
	for _, file := range os.Args[2:] {
		if err := read(file, functions); err != nil {
			fmt.Printf("%s: %v\n", filepath.Base(file), err)
		}
	}
}

func read(file string, functions *extensions.Collection) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var message substraitpb.Plan
	if err := proto.Unmarshal(content, &message); err != nil {
		return err
	}
	_, err = plan.FromProto(&message, functions)
	return err
}
