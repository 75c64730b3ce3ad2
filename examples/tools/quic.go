// A download over QUIC with quic-go, whose ends write a qlog into $QLOGDIR.
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"os"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlog"
)

const size = 300000

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	check(err)
	cert := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	config := &quic.Config{Tracer: qlog.DefaultConnectionTracer}
	listener, err := quic.ListenAddr("127.0.0.1:4433", &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"lab"}}, config)
	check(err)
	go func() {
		conn, err := listener.Accept(context.Background())
		check(err)
		stream, err := conn.AcceptStream(context.Background())
		check(err)
		_, err = io.ReadAll(stream)
		check(err)
		_, err = stream.Write(make([]byte, size))
		check(err)
		check(stream.Close())
	}()
	conn, err := quic.DialAddr(context.Background(), "127.0.0.1:4433", &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"lab"}}, config)
	check(err)
	stream, err := conn.OpenStream()
	check(err)
	_, err = stream.Write([]byte("get"))
	check(err)
	check(stream.Close())
	got, err := io.ReadAll(stream)
	check(err)
	fmt.Println(len(got), os.Getenv("QLOGDIR"))
	check(conn.CloseWithError(0, "done"))
	time.Sleep(500 * time.Millisecond)
}
