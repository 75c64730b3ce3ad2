// An upload over a router with a short queue, and datagrams back, as ns-3 (3.44, ns3 on PyPI) tells of them:
// ns3 DIRECTORY
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/flow-monitor-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/stats-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

int main(int argc, char *argv[])
{
    std::string directory = argc > 1 ? argv[1] : ".";
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    NodeContainer nodes; // client, router, server
    nodes.Create(3);
    InternetStackHelper().Install(nodes);
    PointToPointHelper access, link;
    access.SetDeviceAttribute("DataRate", StringValue("50Mbps"));
    access.SetChannelAttribute("Delay", StringValue("1ms"));
    link.SetDeviceAttribute("DataRate", StringValue("8Mbps"));
    link.SetChannelAttribute("Delay", StringValue("10ms"));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("12p"));
    NetDeviceContainer near = access.Install(nodes.Get(0), nodes.Get(1)), far = link.Install(nodes.Get(1), nodes.Get(2));
    Ipv4AddressHelper addresses("10.0.1.0", "255.255.255.0");
    addresses.Assign(near);
    addresses.SetBase("10.9.0.0", "255.255.255.0");
    Ipv4InterfaceContainer server = addresses.Assign(far);
    TrafficControlHelper().Uninstall(far); // its queue is the device's alone
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    BulkSendHelper sender("ns3::TcpSocketFactory", InetSocketAddress(server.GetAddress(1), 5001));
    sender.SetAttribute("MaxBytes", UintegerValue(150000));
    sender.Install(nodes.Get(0)).Start(Seconds(0.1));
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5001));
    ApplicationContainer sinks = sink.Install(nodes.Get(2));
    UdpClientHelper datagrams(Ipv4Address("10.0.1.1"), 6000);
    datagrams.SetAttribute("MaxPackets", UintegerValue(20));
    datagrams.SetAttribute("Interval", TimeValue(MilliSeconds(20)));
    datagrams.SetAttribute("PacketSize", UintegerValue(200));
    datagrams.Install(nodes.Get(2)).Start(Seconds(0.2));
    UdpServerHelper(6000).Install(nodes.Get(0));
    AsciiTraceHelper ascii;
    link.EnableAsciiAll(ascii.CreateFileStream(directory + "/ns3.tr"));
    access.EnablePcap(directory + "/ns3-client", near.Get(0));
    link.EnablePcap(directory + "/ns3-server", far.Get(1));
    FlowMonitorHelper monitor;
    monitor.InstallAll();
    Simulator::Stop(Seconds(2));
    Simulator::Run();
    monitor.SerializeToXmlFile(directory + "/ns3-flows.xml", true, false);
    std::cout << DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx() << std::endl;
    Ptr<CounterCalculator<uint32_t>> total = CreateObject<CounterCalculator<uint32_t>>();
    total->SetKey("rx-bytes");
    total->SetContext("node[2]");
    total->Update(DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx());
    DataCollector data;
    data.DescribeRun("bulk", "droptail", "12p", "run-1", "an upload");
    data.AddDataCalculator(total);
    OmnetDataOutput output;
    output.SetFilePrefix(directory + "/ns3-stats");
    output.Output(data);
    Simulator::Destroy();
}
