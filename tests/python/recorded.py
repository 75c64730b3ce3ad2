"""Small recordings of our own in the formats that are imported, and how they break."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

UCC = (
    "Timestamp,Longitude,Latitude,Speed,Operatorname,CellID,NetworkMode,RSRP,RSRQ,SNR,CQI,RSSI,"
    "DL_bitrate,UL_bitrate,State,PINGAVG,PINGMIN,PINGMAX,PINGSTDEV,PINGLOSS,CELLHEX,NODEHEX,LACHEX,"
    "RAWCELLID,NRxRSRP,NRxRSRQ"
)
UCC_ROW = (
    "2019.11.28_07.27.{},-8.39,51.93,36,B,11,5G,{},-12,9.0,12,-,{},{},D,{},-,-,-,{},C,A,B,1,-9,-\n"
)
LUMOS = (
    "run_num,seq_num,abstractSignalStr,latitude,longitude,movingSpeed,compassDirection,nrStatus,"
    "lte_rssi,lte_rsrp,lte_rsrq,lte_rssnr,nr_ssRsrp,nr_ssRsrq,nr_ssSinr,Throughput,mobility_mode,"
    "trajectory_direction,tower_id"
)
FCC = (
    "unit_id,dtime,target,address,fetch_time,bytes_total,bytes_sec,bytes_sec_interval,warmup_time,"
    "warmup_bytes,sequence,threads,successes,failures,location_id"
)
WETLINKS = (
    "site_name,timestamp_start,timestamp_end,server,ip_protocol,transport_protocol,download,upload"
)
XCAL = (
    "TIME_STAMP,Lat,Lon,Smart Phone Smart Throughput Mobile Network DL Throughput [Mbps],"
    "Smart Phone Smart Throughput Mobile Network UL Throughput [Mbps],Event 5G-NR/LTE Events,"
    "5G KPI PCell RF Frequency [MHz],LTE KPI PCell Serving EARFCN(DL),LTE KPI PCell Serving PCI"
)
ERRANT = (
    "operator,country,rat,signal_quality,download_kbps,upload_kbps,latency_ms_avg,latency_ms_stdev"
)
PING = """\
PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.
[1700000000.000000] 64 bytes from 192.0.2.1: icmp_seq=1 ttl=63 time=40.0 ms
[1700000001.000000] 64 bytes from 192.0.2.1: icmp_seq=2 ttl=63 time=60.0 ms
[1700000003.000000] 64 bytes from 192.0.2.1: icmp_seq=4 ttl=63 time=50.0 ms

--- 192.0.2.1 ping statistics ---
5 packets transmitted, 3 received, 40% packet loss, time 4005ms
"""
# As NUWiNS has them: local time, and milliseconds of Unix time at which it began.
DATED = """\
Start time: 1691503748604
[2023-08-08 10:09:08.710516] PING 192.0.2.1 (192.0.2.1) 38(66) bytes of data.
[2023-08-08 10:09:08.711076] 46 bytes from 192.0.2.1: icmp_seq=1 ttl=52 time=59.2 ms
[2023-08-08 10:09:09.711076] 46 bytes from 192.0.2.1: icmp_seq=2 ttl=52 time=48.7 ms
End time: 1691503778670
"""


def iperf3(*, reverse: int, protocol: str = "TCP") -> str:
    """Write what a client of iperf3 prints with ``-J``, as far as it matters."""
    sums = [
        {"start": n, "end": n + 1, "bits_per_second": (n + 1) * 1e7, "omitted": False}
        | {"sender": not reverse}
        | ({"lost_percent": 2.0} if protocol == "UDP" else {})
        for n in range(3)
    ]
    streams = [{"socket": 5, **({} if reverse else {"rtt": 30_000})}]
    start = {
        "timestamp": {"timesecs": 1_700_000_000},
        "test_start": {"protocol": protocol, "reverse": reverse, "target_bitrate": 0},
    }
    intervals = [{"sum": one, "streams": streams} for one in sums]
    return json.dumps({"start": start, "intervals": intervals, "end": {}}, indent=1)


def monroe(*entries: dict[str, Any]) -> str:
    """Write lines as MONROE's nodes export them."""
    return "".join(json.dumps(entry) + "\n" for entry in entries)


@dataclass(frozen=True)
class Recorded:
    """A file, what its first rows become, and what is said of it once it is broken."""

    format: str
    name: str
    text: str
    #: By the file that is made: its rows.
    traces: dict[str, str]
    #: What in the text makes it malformed, by what it is replaced with; and what is said then.
    breaks: tuple[str, str]
    said: str
    options: tuple[str, ...] = ()
    #: Parts of the link's text.
    link: tuple[str, ...] = ()
    #: Lines of the radio log after its head, as far as they begin so.
    radio: tuple[str, ...] = ()
    more: dict[str, Any] = field(default_factory=dict)


RECORDED = (
    Recorded(
        "mahimahi",
        "home.down",
        "0\n1\n1\n4\n",
        {"home-down.trace": "0\n1\n1\n4\n"},
        ("1\n4", "x\n4"),
        "line 3: 'x' is not a whole number of milliseconds: mend or remove it",
        link=('element = "trace", trace = "home-down.trace"',),
    ),
    Recorded(
        "satellite-cellular",
        "att_udp_down.csv",
        "time,throughput,speed,latitude,longtitu,area_type\n"
        "2023-04-18 10:43:02 CDT,15.6,10,44.9877,-93.2143,urban\n"
        "2023-04-18 10:43:03 CDT,167.0,10,44.9877,-93.2143,urban\n"
        "2023-04-18 10:43:05 CDT,20.5,10,44.9877,-93.2143,urban\n"
        "2023-04-18 10:43:06 CDT,20.5,10,44.9877,-93.2143,urban\n",
        {"att-down-rate.csv": "ms,mbps\n0,15.6\n1000,167\n3000,20.5\n4000,20.5\n"},
        ("167.0", "fast"),
        "line 3: throughput is 'fast': it must be a number; mend it, or leave the cell empty",
        link=(
            'period = "5 s"',
            "from 2023-04-18 15:43:02 to 2023-04-18 15:43:07 UTC",
            "a UDP throughput, which is capacity where more was sent than could pass",
            "1 gap, the longest of 1 s at 2 s: the value before holds",
            "CDT is taken as UTC-5",
        ),
    ),
    Recorded(
        "lumos5g",
        "loop.csv",
        f"{LUMOS}\n"
        "1,1,3,44.97,-93.25,1.2,90,CONNECTED,-61,-90,-12,4,-85,-11,12,610.5,walking,CW,7\n"
        "1,2,3,44.97,-93.25,1.2,90,NONE,-61,-90,-12,4,2147483647,2147483647,2147483647,45,walking,CW,7\n",
        {"loop-down-rate.csv": "ms,mbps\n0,610.5\n1000,45\n"},
        ("\n1,2,", "\n2,2,"),
        "line 3: another run begins (run_num=2, after run_num=1): choose one, as by "
        "--where run_num=2",
        link=("a TCP throughput, which is not capacity", "CC BY 4.0"),
        radio=("0.000000000,loop,,7,,-85.0,-11.0,12.0,-61.0", "1.000000000,loop,,7,,,,,-61.0"),
    ),
    Recorded(
        "5gophers",
        "car.csv",
        "protocol,num_tcp_conn,seq_num,Sprint_throughput_mbps,Verizon_throughput_mbps\n"
        "TCP,8,0,25.7,53.4\nTCP,8,1,65.0,\n",
        {
            "sprint-down-rate.csv": "ms,mbps\n0,25.7\n1000,65\n",
            "verizon-down-rate.csv": "ms,mbps\n0,53.4\n",
        },
        ("65.0", "-65.0"),
        "line 3: Sprint_throughput_mbps is -65.0: it must be 0 or more, or empty",
        link=("1 gap, the longest of 1 s at 1 s",),
    ),
    Recorded(
        "ping",
        "ping.txt",
        PING,
        {
            "path-down-delay.csv": "ms,delay_ms,loss_percent\n0,20,0\n1000,30,0\n2000,30,100\n"
            "3000,25,0\n4000,25,100\n"
        },
        ("time=60.0 ms\n", "time=60\n"),
        "line 3: is not an answer as ping prints it",
        link=("half of the round trip", 'element = "delay-trace"'),
    ),
    Recorded(
        "xcal",
        "verizon.csv",
        f"{XCAL}\n"
        "2023-08-08 10:09:08,41.9,-87.6,120.5,8.5,,,,\n"
        "2023-08-08 10:09:09,41.9,-87.6,,,Handover Success,3700,66786,12\n"
        "2023-08-08 10:09:10,41.9,-87.6,60,4,,,,12\n",
        {
            "verizon-down-rate.csv": "ms,mbps\n0,120.5\n2000,60\n",
            "verizon-up-rate.csv": "ms,mbps\n0,8.5\n2000,4\n",
        },
        ("2023-08-08 10:09:10", "8/8/2023 10:09"),
        "line 4: '8/8/2023 10:09' is not a time: 2026-11-25T12:00:00Z, or seconds of Unix time",
        options=("--time-zone", "America/New_York"),
        link=("from 2023-08-08 14:09:08", "CC0 1.0"),
        radio=("1691503749.000000000,verizon,,12,",),
    ),
    Recorded(
        "ucc",
        "drive.csv",
        f"{UCC}\n"
        + UCC_ROW.format(42, -96, 40000, 1000, 30, 0)
        + UCC_ROW.format(42, -96, 20000, 3000, "-", "-")
        + UCC_ROW.format(43, -300, 8000, 500, 50, 36),
        {
            "b-down-rate.csv": "ms,mbps\n0,30\n1000,8\n",
            "b-up-rate.csv": "ms,mbps\n0,2\n1000,0.5\n",
            "b-up-delay.csv": "ms,delay_ms,loss_percent\n0,15,0\n1000,25,20\n",
        },
        ("2019.11.28_07.27.43", "2019-11-28"),
        "line 4: '2019-11-28' is not a time such as 2026.11.25_09.30.00",
        link=(
            "its times name no zone and are taken as UTC",
            "1 duplicate of a time, its mean taken",
            "values of RSRP that cannot be are left out",
            "what applications moved, which is not capacity",
        ),
        radio=("1574926062.000000000,b,5G,11,,-96.0,-12.0,9.0,",),
    ),
    Recorded(
        "iperf3",
        "test.json",
        iperf3(reverse=0),
        {
            "test-up-rate.csv": "ms,mbps\n0,10\n1000,20\n2000,30\n",
            "test-up-delay.csv": "ms,delay_ms,loss_percent\n0,15,0\n1000,15,0\n2000,15,0\n",
        },
        (' "end": {}\n}', ""),
        "is not complete JSON: was iperf3 interrupted? Run it again",
        link=("a TCP throughput, which is not capacity",),
    ),
    Recorded(
        "fcc",
        "curr_httpgetmt.csv",
        f"{FCC}\n"
        "7,2023-01-01 00:05:00,a,1,5000000,1,1000000,1,1,1,0,8,1,0,\n"
        "7,2023-01-01 00:05:00,a,1,10000000,1,2500000,1,1,1,1,8,1,0,\n"
        "7,2023-01-01 02:05:00,a,1,10000000,1,5000000,1,1,1,1,8,1,0,\n"
        "7,2023-01-01 04:05:00,a,1,0,0,0,0,0,0,0,8,0,1,\n",
        {},
        ("\n7,2023-01-01 02", "\n8,2023-01-01 02"),
        "line 4: another unit begins: choose one, as by --where unit_id=8",
        link=(
            'element = "rate", rate = "30 Mbit/s"',
            'of = ["downlink.0.rate"]\nspread = 0.4714',
            "1 row of tests that failed, left out",
        ),
    ),
    Recorded(
        "monroe",
        "node.json",
        monroe(
            {
                "DataId": "MONROE.META.DEVICE.MODEM",
                "Timestamp": 1463048694.0,
                "ICCID": "89",
                "RSRP": -95,
            }
            | {"RSRQ": -9, "DeviceMode": 5, "CID": 31, "Band": 3, "Operator": "Telia"},
            {"DataId": "MONROE.EXP.PING", "Timestamp": 1463048694.5, "Iccid": "89", "Rtt": 50}
            | {"SequenceNumber": 1, "Operator": "Telia", "Bytes": 84},
            {"DataId": "MONROE.EXP.PING", "Timestamp": 1463048695.5, "Iccid": "89"}
            | {"SequenceNumber": 2, "Operator": "Telia"},
            {"DataId": "MONROE.META.DEVICE.GPS", "Timestamp": 1463048695.0}
            | {"Latitude": 59.4, "Longitude": 13.5},
        ),
        {"telia-down-delay.csv": "ms,delay_ms,loss_percent\n0,25,0\n1500,25,100\n"},
        ('"Rtt": 50', '"Rtt": "slow"'),
        "line 2: Rtt is 'slow': it must be a number of 0 or more; remove the entry",
        radio=("1463048694.000000000,telia,LTE,31,3,-95.0,-9.0,",),
    ),
    Recorded(
        "errant",
        "profiles.csv",
        f"{ERRANT}\ntelia,sweden,4G,good,54000,21000,90,45\ntelia,sweden,3G,good,16000,3300,130,55\n",
        {},
        ("telia,sweden,4G", "telia,norway,4G"),
        "line 1: no profile is chosen: name one by --where operator=telia",
        options=("--where", "country=sweden", "--where", "rat=4G"),
        link=(
            'element = "rate", rate = "54 Mbit/s"',
            'element = "rate", rate = "21 Mbit/s"',
            'element = "delay", delay = "45 ms"',
            "spread = 0.5",
            "GPLv3",
        ),
    ),
    Recorded(
        "lens",
        "irtt.csv",
        "timestamp,rtt,uplink,downlink\n"
        "1705744800000000000,100,60,40\n1705744800500000000,0,0,-1\n"
        "1705744801000000000,80,30,50\n1705744801500000000,-1,0,0\n",
        {
            "irtt-down-delay.csv": "ms,delay_ms,loss_percent\n0,40,50\n1000,50,29.2893219\n",
            "irtt-up-delay.csv": "ms,delay_ms,loss_percent\n0,60,0\n1000,30,29.2893219\n",
        },
        ("80,30", "-80,30"),
        "line 4: rtt is -80: it must be 0 or more, or -1 for a lost probe",
        link=("CC BY-SA 4.0",),
    ),
    Recorded(
        "wetlinks",
        "net_iperf.csv",
        f"{WETLINKS}\n"
        "utwente,2023-10-12 15:21:13,2023-10-12 15:21:28,s,IPv4,UDP,120000000,12000000\n"
        "utwente,2023-10-12 15:24:13,2023-10-12 15:24:28,s,IPv4,UDP,180000000,\n",
        {},
        ("180000000", "-1"),
        "line 3: download is -1: it must be 0 or more, or empty",
        link=(
            'element = "rate", rate = "150 Mbit/s"',
            'element = "rate", rate = "12 Mbit/s"',
            "spread = 0.2828",
        ),
    ),
    Recorded(
        "csv",
        "mine.csv",
        "when,rx,loss\n2026-11-25T09:30:00Z,8000,\n2026-11-25T09:30:01Z,4000,19\n",
        {
            "mine-down-rate.csv": "ms,mbps\n0,8\n1000,4\n",
            "mine-down-delay.csv": "ms,delay_ms,loss_percent\n0,20,10\n",
        },
        ("4000,19", "4000"),
        "line 3: 2 cells, and the first line names 3 columns: mend or remove the line",
        options=(
            *("--column", "time=when", "--column", "down_kbps=rx"),
            *("--column", "loss_percent=loss"),
        ),
        link=('element = "rate", rate = "20 Mbit/s"',),
    ),
)
