// A local provider of identities for tests: everybody who comes is the next user of the arguments.
package main

import (
	"fmt"
	"net"
	"os"
	"os/signal"

	"github.com/oauth2-proxy/mockoidc"
)

func main() {
	provider, err := mockoidc.NewServer(nil)
	if err != nil {
		panic(err)
	}
	provider.ClientID, provider.ClientSecret = "contest", "a secret of a test"
	for _, name := range os.Args[2:] {
		provider.QueueUser(&mockoidc.MockUser{Subject: name, Email: name + "@lab.example", EmailVerified: true, PreferredUsername: name})
	}
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		panic(err)
	}
	if err := provider.Start(listener, nil); err != nil {
		panic(err)
	}
	fmt.Println(provider.Issuer())
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	<-stop
}
