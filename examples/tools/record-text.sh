#!/bin/sh
# Records what iperf3 and iperf 2 print, over the loopback interface, into a directory: record-text.sh DIRECTORY. What one end writes as text, the
# other writes as JSON or CSV.
set -eu
cd "$1"
server() { # FILE COMMAND…
    out=$1
    shift
    "$@" >"$out" &
    sleep 0.5
}
server iperf3-text-server.json iperf3 -s -1 -p 5201 -i 0.5 -J
iperf3 -c 127.0.0.1 -p 5201 -t 2 -P 2 -i 0.5 -b 10M -V >iperf3-text.txt
wait
server iperf3-text-udp-server.txt iperf3 -s -1 -p 5201 -i 0.5
iperf3 -c 127.0.0.1 -p 5201 -t 1 -i 0.5 -u -b 4M -R >iperf3-text-udp.txt
wait
server iperf2-server.csv iperf -s -p 5001 -i 0.5 -y C
iperf -c 127.0.0.1 -p 5001 -t 2 -i 0.5 -b 10M -e >iperf2.txt
sleep 0.5
kill -INT $!
wait
server iperf2-udp-server.txt iperf -s -p 5001 -u -i 0.5 -e
iperf -c 127.0.0.1 -p 5001 -u -b 4M -t 1 -i 0.5 -y C >iperf2-udp.csv
sleep 0.5
kill -INT $!
wait
server iperf2-full-server.txt iperf -s -p 5001 -i 0.5
iperf -c 127.0.0.1 -p 5001 --full-duplex -t 1 -i 0.5 -b 8M -e >iperf2-full.txt
sleep 0.5
kill -INT $!
wait
sed -i 's/"system_info":.*"Linux [^"]*"/"system_info": "Linux"/' iperf3-*.json
sed -i 's/^Linux .*/Linux/' iperf3-*.txt
