"""What a scenario says, in Linux's words; and what is refused by name. No kernel is asked."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from mptcplab import Error
from mptcplab.engines.kernel.features import Features
from mptcplab.engines.kernel.job import Wanted
from mptcplab.engines.kernel.network import Host, Job
from mptcplab.engines.kernel.settings import MPTCP, TCP
from mptcplab.scenario import endpoint, long
from mptcplab.scenario.scenario import load


class Debian(Features):
    """A kernel as distributions have it, but for sysctls that are said to be missing."""

    lacks: tuple[str, ...] = ()

    def has(self, sysctl: str) -> bool:
        return sysctl not in self.lacks

    def is_since(self, major: int, minor: int) -> bool:
        return (major, minor) <= (6, 12)


MACHINE = Debian(("reno", "cubic", "bbr"), ("reno", "cubic"), ("default",))
SCENARIO: dict[str, Any] = {
    "schema": 1,
    "transfer": {"direction": "download", "size": "1 MB"},
    "path": {
        "wifi": {"rate": "10 Mbit/s", "delay": "5 ms"},
        "lte": {"rate": "8 Mbit/s", "delay": "20 ms"},
    },
    "mptcp": {"congestion_control": "reno"},
}


def wanted(
    *settings: str, baseline: str | None = None, machine: Features = MACHINE, **more: Any
) -> Job:
    _, scenario = load(SCENARIO | more, list(settings))
    made = Wanted(scenario, 1, baseline, machine)
    return made.job(Path("run"), Path("run/raw"), captures="headers")


def host(job: Job, name: str = "client") -> Host:
    return next(host for host in job.hosts if host.name == name)


def test_segments_and_the_cache_of_thresholds_are_linuxs_own() -> None:
    job = wanted("tcp.mss=1400 B", "tcp.ssthresh_cache=true")
    routes = [line for line in job.attach["wifi"] if line.startswith("route")]
    assert routes
    assert all(line.endswith("advmss 1400") for line in routes)
    assert host(job).sysctls["net.ipv4.tcp_no_metrics_save"] == 0
    assert host(job).sysctls["net.ipv4.tcp_no_ssthresh_metrics_save"] == 0


def test_what_is_left_out_is_as_in_linux_itself() -> None:
    job = wanted()
    for end in ("client", "server"):
        sysctls = host(job, end).sysctls
        assert sysctls["net.ipv4.tcp_rmem"] == "4096 131072 6291456"
        assert sysctls["net.ipv4.tcp_wmem"] == "4096 16384 4194304"
        assert sysctls["net.mptcp.scheduler"] == "default"
        assert sysctls["net.mptcp.stale_loss_cnt"] == 4
        assert sysctls["net.mptcp.syn_retrans_before_tcp_fallback"] == 2
        assert sysctls["net.ipv4.tcp_congestion_control"] == "reno"
        assert sysctls["net.ipv4.tcp_ecn"] == 2
    assert not any("initcwnd" in line or "quickack" in line for line in job.attach["wifi"])


@pytest.mark.parametrize(
    ("setting", "sysctl", "value"),
    [
        ("tcp.sack=false", "net.ipv4.tcp_sack", 0),
        ("tcp.ecn=off", "net.ipv4.tcp_ecn", 0),
        ("tcp.ecn=request", "net.ipv4.tcp_ecn", 1),
        ("tcp.timestamps=false", "net.ipv4.tcp_timestamps", 0),
        ("tcp.window_scaling=false", "net.ipv4.tcp_window_scaling", 0),
        ("tcp.rack=false", "net.ipv4.tcp_recovery", 0),
        ("tcp.tail_loss_probe=false", "net.ipv4.tcp_early_retrans", 0),
        ("tcp.min_timeout=50 ms", "net.ipv4.tcp_rto_min_us", 50_000),
        ("tcp.max_timeout=4 s", "net.ipv4.tcp_rto_max_ms", 4000),
        ("tcp.retries=60", "net.ipv4.tcp_retries2", 60),
        ("tcp.syn_retries=2", "net.ipv4.tcp_syn_retries", 2),
        ("tcp.syn_retries=2", "net.ipv4.tcp_synack_retries", 2),
        ("tcp.receive_buffer=880 kB", "net.ipv4.tcp_rmem", "4096 880000 6291456"),
        ("tcp.receive_buffer_tuning=false", "net.ipv4.tcp_moderate_rcvbuf", 0),
        ("tcp.send_buffer=1 MB", "net.ipv4.tcp_wmem", "4096 16384 1000000"),
        ("tcp.fin_timeout=5 s", "net.ipv4.tcp_fin_timeout", 5),
        ("tcp.keep_alive_idle=2 s", "net.ipv4.tcp_keepalive_time", 2),
        ("tcp.keep_alive_interval=3 s", "net.ipv4.tcp_keepalive_intvl", 3),
        ("mptcp.checksum=true", "net.mptcp.checksum_enabled", 1),
        ("mptcp.stale_timeouts=1", "net.mptcp.stale_loss_cnt", 1),
        ("mptcp.close_timeout=3 s", "net.mptcp.close_timeout", 3),
        ("mptcp.capable_retries=1", "net.mptcp.syn_retrans_before_tcp_fallback", 0),
        ("kernel.sysctl.net.mptcp.add_addr_timeout=7", "net.mptcp.add_addr_timeout", 7),
        ("kernel.sysctl.net.ipv4.tcp_sack=0", "net.ipv4.tcp_sack", 0),
    ],
)
def test_settings_become_sysctls(setting: str, sysctl: str, value: int | str) -> None:
    job = wanted(setting)
    assert host(job).sysctls[sysctl] == host(job, "server").sysctls[sysctl] == value


def test_settings_become_attributes_of_routes() -> None:
    job = wanted("tcp.delayed_ack=off", "tcp.initial_window=20")
    routes = [line for line in job.attach["wifi"] if line.startswith("route")]
    routes += [line for line in host(job, "server").setup if line.startswith("route")]
    assert len(routes) == 4
    assert all(line.endswith("quickack 1 initcwnd 20") for line in routes)


@pytest.mark.parametrize(
    ("setting", "what"),
    [
        ("tcp.slow_start=hystart", '[tcp] slow_start: Linux cannot have "hystart"'),
        ("tcp.initial_ssthresh=64", "[tcp] initial_ssthresh: Linux cannot have 64"),
        ("tcp.max_backoff=0", "[tcp] max_backoff: Linux cannot have 0"),
        ("mptcp.receive_buffer=per-subflow", '[mptcp] receive_buffer: Linux cannot have "per-subf'),
        (
            "mptcp.era=2012",
            '[tcp] appropriate_byte_counting, of era "2012": Linux cannot have false',
        ),
        ("tcp.quick_acks=3", "[tcp] quick_acks: Linux cannot have 3: it has 16"),
        ("tcp.undo=false", "[tcp] undo: Linux cannot have false"),
        ("tcp.linux_timeout=false", "[tcp] linux_timeout: Linux cannot have false"),
        ("tcp.delayed_ack=100 ms", '[tcp] delayed_ack: Linux cannot have "100 ms"'),
        ("tcp.initial_timeout=3 s", '[tcp] initial_timeout: Linux cannot have "3 s": it has 1 s'),
        ("tcp.fin_timeout=500 ms", "it counts whole s"),
        ("tcp.max_timeout=500 ms", "net.ipv4.tcp_rto_max_ms is from 1000 to 120000"),
        ("mptcp.penalisation=true", "[mptcp] penalisation: Linux cannot have true"),
        ("mptcp.long_numbers=false", "[mptcp] long_numbers: Linux cannot have false"),
        ("mptcp.max_subflows=9", "[mptcp] max_subflows: Linux cannot have 9: at most 8"),
        ("mptcp.version=0", "[mptcp] version: Linux cannot have 0: it has 1"),
        ("mptcp.join=simultaneous", '[mptcp] join: Linux cannot have "simultaneous"'),
        (
            "mptcp.path_manager=handover",
            '[mptcp] path_manager: Linux cannot have "handover": '
            'it has "budget", "full-mesh", "guard", "linux", "maps", "offload", "on-demand", '
            '"single"',
        ),
        ("mptcp.scheduler=blest", "[kernel] scheduler: this kernel has no blest"),
        ("mptcp.scheduler=lowest-rtt", "[kernel] scheduler: this kernel has no lowest-rtt"),
        (
            "mptcp.congestion_control=lia",
            "mptcplab controllers --load lia loads it; "
            "to run it: --set kernel.congestion_control=cubic",
        ),
        (
            "mptcp.congestion_control=wvegas",
            "[kernel] congestion_control: this kernel has no wvegas (it has reno, cubic, bbr); "
            "to run it: --set kernel.congestion_control=cubic",
        ),
        (
            "cross_traffic.0.congestion_control=wvegas",
            "[[cross_traffic]] near: congestion_control: this kernel has no wvegas (it has reno, "
            "cubic, bbr); to run it: --set cross_traffic.0.congestion_control=cubic",
        ),
    ],
)
def test_what_linux_cannot_do_is_refused_by_name(setting: str, what: str) -> None:
    traffic = [{"name": "near", "link": "wifi"}]
    with pytest.raises(Error) as error:
        wanted(setting, cross_traffic=traffic)
    message = str(error.value)
    assert what in message
    assert "\n" not in message
    # What it says to set does run.
    remedy = message.partition("; to run it: ")[2].partition(", or ")[0]
    settings = [word for word in shlex.split(remedy) if word != "--set"]
    assert settings
    wanted(setting, *settings, cross_traffic=traffic)


@pytest.mark.parametrize(
    ("settings", "remedy"),
    [
        (["mptcp.era=2012"], "--set mptcp.era=current"),
        (
            ["mptcp.era=2012", "tcp.initial_ssthresh=46"],
            "--set mptcp.era=current --set tcp.initial_ssthresh=off",
        ),
        (
            ["mptcp.join=simultaneous", "mptcp.path_manager=handover"],
            "--set mptcp.join=specified --set mptcp.path_manager=linux, "
            "or --set client.stack=mptcplab",
        ),
        (
            ["mptcp.path_manager=handover", "mptcp.penalisation=true"],
            "--set mptcp.penalisation=false --set mptcp.path_manager=linux",
        ),
    ],
)
def test_one_line_says_all_that_makes_it_run(settings: list[str], remedy: str) -> None:
    with pytest.raises(Error) as error:
        wanted(*settings)
    assert str(error.value).endswith(f"; to run it: {remedy}")


LOADED = Debian(
    ("reno", "cubic", "mptcplab_lia", "mptcplab_ewtcp"),
    ("reno", "mptcplab_lia", "mptcplab_ewtcp"),
    ("default",),
)


def test_controllers_that_are_loaded_have_their_name_in_the_kernel() -> None:
    job = wanted("mptcp.congestion_control=lia", machine=LOADED)
    for end in ("client", "server"):
        assert host(job, end).sysctls["net.ipv4.tcp_congestion_control"] == "mptcplab_lia"
    assert job.controllers == ["lia"]
    alone = wanted("mptcp.congestion_control=lia", machine=LOADED, baseline="lte")
    assert host(alone, "server").sysctls["net.ipv4.tcp_congestion_control"] == "reno"
    assert alone.controllers == []
    assert wanted("mptcp.congestion_control=reno", machine=LOADED).controllers == []


def test_parameters_that_a_program_has_not_are_refused() -> None:
    settings = ["mptcp.congestion_control=ewtcp", "mptcp.congestion_parameters.weight=0.5"]
    with pytest.raises(Error, match="the program in the kernel has the defaults"):
        wanted(*settings, machine=LOADED)
    wanted(*settings, "mptcp.congestion_parameters={}", machine=LOADED)
    wanted(settings[0], machine=LOADED)


def test_cross_traffic_has_what_linux_calls_the_same() -> None:
    traffic = [
        {"name": "plain", "link": "wifi"},
        {"name": "linux", "link": "wifi", "congestion_control": "reno-linux"},
        {"name": "coupled", "link": "wifi", "congestion_control": "lia-linux"},
    ]
    job = wanted(cross_traffic=traffic)
    used = {
        name: host(job, f"peer {name}").sysctls["net.ipv4.tcp_congestion_control"]
        for name in ("plain", "linux", "coupled")
    }
    assert used == {"plain": "cubic", "linux": "reno", "coupled": "reno"}


def test_a_kernel_without_a_sysctl_is_refused_only_what_it_does_not_do_anyhow() -> None:
    class Old(Debian):
        lacks = (
            "net.mptcp.syn_retrans_before_tcp_fallback",
            "net.mptcp.stale_loss_cnt",
            "net.mptcp.scheduler",
            "net.ipv4.tcp_rto_min_us",
            "net.ipv4.tcp_rto_max_ms",
            "net.ipv6",
        )

    old = Old(MACHINE.congestion_controls, MACHINE.unrestricted, MACHINE.schedulers)
    assert not set(Old.lacks) & host(wanted(machine=old)).sysctls.keys()
    job = wanted("tcp.min_timeout=50 ms", machine=old)
    assert any(line.endswith("rto_min 50ms") for line in job.attach["wifi"])
    for setting in ("mptcp.stale_timeouts=1", "tcp.max_timeout=4 s", "path.lte.ip=6"):
        with pytest.raises(Error, match="this kernel has no"):
            wanted(setting, machine=old)


def test_recent_kernels_have_rack_whatever_is_set() -> None:
    class Recent(Debian):
        def is_since(self, major: int, minor: int) -> bool:
            return True

    recent = Recent(MACHINE.congestion_controls, MACHINE.unrestricted, MACHINE.schedulers)
    assert host(wanted(machine=recent)).sysctls["net.ipv4.tcp_recovery"] == 1
    with pytest.raises(Error, match="Linux cannot have false: it has nothing else since 6.17"):
        wanted("tcp.rack=false", machine=recent)


def test_a_kernel_without_mptcp_runs_baselines() -> None:
    class Plain(Debian):
        lacks = ("net.mptcp.enabled",)

    plain = Plain(MACHINE.congestion_controls, MACHINE.unrestricted, MACHINE.schedulers)
    with pytest.raises(Error, match="this kernel has no MPTCP"):
        wanted(machine=plain)
    job = wanted(machine=plain, baseline="lte")
    assert job.agents["client"].job["mptcp"] is False


def test_what_needs_the_simulators_payload_is_refused() -> None:
    path = {"rate": "1 Mbit/s", "delay": "1 ms", "middleboxes": [{"element": "proxy"}]}
    with pytest.raises(Error, match="link wifi: the kernel engine has no proxy"):
        wanted(path={"wifi": path})


def test_every_key_has_a_rule() -> None:
    elsewhere = {
        "era",
        "enabled",
        "congestion_control",
        "congestion_parameters",
        "scheduler",
        "scheduler_parameters",
        "path_manager",
        "path_manager_parameters",
        "max_subflows",
        "max_add_addr_accepted",
        "receive_buffer",
        "max_receive_buffer",
    }
    assert TCP.keys() <= endpoint.Tcp.model_fields.keys()
    assert MPTCP.keys() <= endpoint.Mptcp.model_fields.keys()
    keys = endpoint.Tcp.model_fields.keys() | endpoint.Mptcp.model_fields.keys()
    assert keys == TCP.keys() | MPTCP.keys() | elsewhere


# What each place names, and what Linux has then: for MPTCP and for the baselines.
POLICIES: list[tuple[list[str], tuple[str, str]]] = [
    ([], ("reno", "reno")),
    (["mptcp.congestion_control=cubic-linux"], ("cubic", "cubic")),
    (["kernel.congestion_control=cubic", "tcp.congestion_control=reno-linux"], ("cubic", "reno")),
    (["kernel.congestion_control=cubic"], ("cubic", "cubic")),
    (["kernel.congestion_control=cubic", "tcp.congestion_control=reno"], ("cubic", "reno")),
    (["mptcp.congestion_control=olia", "kernel.congestion_control=bbr"], ("bbr", "bbr")),
    (["tcp.congestion_control=lia"], ("reno", "reno")),
    (["kernel.tcp_congestion_control=bbr"], ("reno", "bbr")),
]


@pytest.mark.parametrize(("settings", "policies"), POLICIES)
def test_kernel_takes_what_is_named_and_its_own_otherwise(
    settings: list[str], policies: tuple[str, str]
) -> None:
    _, scenario = load(SCENARIO, settings)
    kernel = scenario.kernel
    assert (kernel.congestion_control, kernel.tcp_congestion_control) == policies


@pytest.mark.parametrize(
    ("settings", "kernel"),
    [
        ([], {"congestion_control": "cubic", "scheduler": "bpf"}),
        (["mptcp.congestion_control=olia"], {"congestion_control": "olia", "scheduler": "bpf"}),
        (["mptcp.scheduler=lowest-rtt"], {"scheduler": "lowest-rtt"}),
        (["tcp.congestion_control=reno"], {"tcp_congestion_control": "reno"}),
        # Both are set: each has its own.
        (
            ["kernel.congestion_control=bbr", "mptcp.congestion_control=olia"],
            {"congestion_control": "bbr"},
        ),
        (
            ["mptcp.congestion_control=olia", "kernel.congestion_control=bbr"],
            {"congestion_control": "bbr"},
        ),
    ],
)
def test_what_is_set_is_not_stood_in_for(settings: list[str], kernel: dict[str, str]) -> None:
    stand_ins = {
        "congestion_control": "cubic",
        "scheduler": "bpf",
        "tcp_congestion_control": "bbr",
    }
    _, scenario = load(SCENARIO | {"kernel": stand_ins}, settings)
    assert {key: getattr(scenario.kernel, key) for key in kernel} == kernel


def test_what_linux_lacks_is_refused_also_where_the_file_has_a_stand_in() -> None:
    with pytest.raises(Error, match="this kernel has no olia"):
        wanted("mptcp.congestion_control=olia", kernel={"congestion_control": "cubic"})


def test_nothing_named_is_linux_itself() -> None:
    _, scenario = load({key: SCENARIO[key] for key in SCENARIO if key != "mptcp"})
    assert scenario.mptcp.congestion_control == "cubic-linux"
    assert scenario.mptcp.scheduler == scenario.mptcp.path_manager == "linux"
    assert scenario.kernel.congestion_control == "cubic"
    assert scenario.kernel.scheduler == "default"


def test_the_long_form_means_the_same(tmp_path: Path) -> None:
    _, scenario = load("wifi-lte", ["kernel.sysctl.net.mptcp.stale_loss_cnt=2"])
    file = tmp_path / "long.toml"
    file.write_text(long.write(scenario))
    assert load(file)[1].kernel == scenario.kernel
    assert 'sysctl = { "net.mptcp.stale_loss_cnt" = 2 }' in file.read_text()


def test_a_restricted_congestion_control_goes_by_routes_and_sockets() -> None:
    job = wanted("kernel.congestion_control=bbr")
    assert host(job).sysctls["net.ipv4.tcp_congestion_control"] == "reno"
    assert all("congctl bbr" in line for line in job.attach["wifi"] if line.startswith("route"))
    assert job.agents["client"].job["congestion_control"] == "bbr"
    assert wanted().agents["client"].job["congestion_control"] is None


def test_cross_traffic_has_linuxs_own_by_linuxs_name() -> None:
    for name, linux in {"cubic-linux": "cubic", "reno-linux": "reno", "cubic": "cubic"}.items():
        traffic = [{"name": "near", "link": "wifi", "congestion_control": name}]
        (settings,) = (
            one.sysctls for one in wanted(cross_traffic=traffic).hosts if one.name == "peer near"
        )
        assert settings["net.ipv4.tcp_congestion_control"] == linux


def test_a_baseline_has_its_path_alone() -> None:
    traffic = [
        {"name": "near", "link": "wifi"},
        {"name": "far", "link": "lte", "kind": "udp", "rate": "1 Mbit/s"},
    ]
    job = wanted(baseline="lte", cross_traffic=traffic)
    assert [one.name for one in job.hosts] == ["client", "server", "neighbour far", "peer far"]
    # As the emulator counts what is left.
    assert "address add 198.18.0.1/32 dev eth0" in host(job, "neighbour far").setup
    assert [one.name for one in host(job).interfaces] == ["lte"]
    assert job.agents["client"].job["connect"]["local"] == ["10.0.2.2", 0]
    assert job.agents["client"].job["mptcp"] is False
    assert not any("mptcp" in line for line in [*host(job).setup, *job.attach["lte"]])


def test_full_mesh_and_backup_are_flags_of_endpoints() -> None:
    meshed = "mptcp.path_manager=full-mesh"
    job = wanted(meshed, "path.lte.backup=true", "server.addresses=2")
    assert job.attach["lte"][-1] == (
        "mptcp endpoint add 10.0.2.2 id 2 dev lte subflow fullmesh backup"
    )
    assert host(job, "server").setup[-1] == "mptcp endpoint add 10.9.1.1 signal"
    assert job.detach["lte"][1] == "mptcp endpoint delete id 2"
    assert "fullmesh" not in wanted("server.addresses=2").attach["lte"][-1]
    # One subflow per path is all that there is.
    assert "fullmesh" not in wanted(meshed).attach["lte"][-1]
    assert "mptcp" not in wanted("mptcp.path_manager=single").attach["lte"][-1]


@pytest.mark.parametrize("verb", ["blackout", "detach", "hold"])
def test_a_run_knows_when_its_last_path_goes_for_good(verb: str) -> None:
    def event(at: str, path: str, verb: str) -> dict[str, str]:
        return {"at": at, "path": path, "verb": verb}

    back = "attach" if verb == "detach" else "restore"
    second = 10**9
    timeline = [event("2 s", "wifi", verb)]
    assert wanted(timeline=timeline).lost_ns is None
    assert wanted(timeline=timeline, baseline="wifi").lost_ns == 2 * second
    assert wanted(timeline=timeline, baseline="lte").lost_ns is None
    both = [event("3 s", "lte", verb), *timeline]
    assert wanted(timeline=both).lost_ns == 3 * second
    again = [*both, event("4 s", "wifi", back)]
    assert wanted(timeline=again).lost_ns is None
    assert wanted(timeline=[*again, event("5 s", "wifi", verb)]).lost_ns == 5 * second


def test_the_timeline_of_a_host() -> None:
    def event(at: str, verb: str, **more: str) -> dict[str, str]:
        return {"at": at, "path": "lte", "verb": verb, **more}

    timeline = [
        event("1 s", "detach"),
        event("2 s", "attach", takes="2 s"),
        event("3 s", "detach"),
        event("4 s", "attach", takes="1 s"),
        event("5 s", "blackout"),
    ]
    job = wanted("transfer.duration=9 s", timeline=timeline)
    second = 10**9
    assert job.timeline == [
        (0, "wifi", True),
        (0, "lte", True),
        (second, "lte", False),
        (5 * second, "lte", True),
    ]
    late = wanted("path.lte.attached=false", baseline="lte", timeline=timeline[1:2])
    # Who is not there yet connects when it is.
    assert late.agents["client"].job["start_ns"] > 4 * second


def test_a_job_survives_its_way_to_the_lab() -> None:
    import json

    job = wanted()
    again = Job.of_json(json.loads(json.dumps(job.as_json())))
    assert again.hosts == job.hosts
    assert again.agents == job.agents
    assert [tuple(change) for change in again.timeline] == job.timeline


def test_policies_are_the_guards_program_beside_linux() -> None:
    manager = ("mptcp.path_manager=budget", "path.lte.budget=5MB")
    job = wanted(*manager)
    guard = job.agents["client"].job["guard"]
    assert (guard["policy"], guard["parameters"]) == ("budget", {"then": "close"})
    assert guard["plans"]["lte"] == {"budget_bytes": 5_000_000, "cost_per_mb": 0}
    assert "subflow" in job.attach["lte"][-1]
    assert wanted("mptcp.path_manager=guard").agents["client"].job["guard"]["policy"] is None
