// The single-path equivalent of what is simulated, in ns-3: TCP CUBIC for 60 s over one path of 100 Mbit/s and 20 ms
// round-trip time. Prints the packets that hosts received and the bytes that the receiver read.

#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>

#include <cstdlib>
#include <iostream>

using namespace ns3;

static uint64_t received = 0;

static void Received(Ptr<const Packet>)
{
    received++;
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? std::atof(argv[1]) : 60;
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpCubic"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4 << 20));

    NodeContainer nodes(2);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
    link.SetChannelAttribute("Delay", StringValue("10ms"));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("250000B"));
    NetDeviceContainer devices = link.Install(nodes);
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    for (uint32_t end = 0; end < 2; end++)
        devices.Get(end)->TraceConnectWithoutContext("PhyRxEnd", MakeCallback(&Received));

    const Time stop = Seconds(seconds);
    const InetSocketAddress receiver(interfaces.GetAddress(1), 80);
    BulkSendHelper source("ns3::TcpSocketFactory", receiver);
    source.Install(nodes.Get(0)).Start(Seconds(0));
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 80));
    ApplicationContainer sinks = sink.Install(nodes.Get(1));
    sinks.Start(Seconds(0));

    Simulator::Stop(stop);
    Simulator::Run();
    std::cout << received << " " << DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx() << std::endl;
    Simulator::Destroy();
}
