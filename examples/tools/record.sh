#!/bin/sh
# Records what the tools write over wifi-lte, into a directory: record.sh DIRECTORY, as root, with iperf3, openssl,
# tshark, tcptrace, and a python3 that has aioquic. `.. client` and `.. server` are what runs at the two ends.
set -eu
here=$(dirname "$(realpath "$0")")
case $1 in
client)
    iperf3 -c server -n 600K -i 0.1 -R -J >iperf3-download.json
    iperf3 -c server -t 2 -P 2 -i 0.5 -J >iperf3-upload.json &
    for _ in $(seq 12); do
        date +%s.%N
        ss -tin dst server
        sleep 0.2
    done >ss.log
    wait
    iperf3 -c server -t 2 -u -b 4M -R -J >iperf3-udp.json
    python3 "$here/quic.py" client 400000
    sleep 4
    ;;
server)
    python3 "$here/quic.py" server 400000 &
    iperf3 -s -J >iperf3-server.json
    ;;
*)
    cd "$1"
    openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 1 -subj /CN=server 2>/dev/null
    mptcplab shell wifi-lte --no-live --out run --serve "sh '$here/record.sh' server" -- sh "$here/record.sh" client
    # The first download and its control connection.
    tshark -r run/client.pcapng -Y 'tcp.stream < 2' -w client.pcapng
    cp client/*.qlog quic-client.qlog
    cp server/*.qlog quic-server.qlog
    tshark -r client.pcapng -F pcap -w client.pcap
    TZ=UTC tcptrace -l -r client.pcap >tcptrace.txt
    TZ=UTC tcptrace --csv -l -r client.pcap >tcptrace.csv
    gzip -9n client.pcapng quic-client.qlog quic-server.qlog
    sed -i 's/"system_info":.*"Linux [^"]*"/"system_info": "Linux"/' iperf3-*.json
    ;;
esac
