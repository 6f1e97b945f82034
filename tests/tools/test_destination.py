"""URLs read in one strict way, addresses judged, allow-lists of hosts."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.tools import address
from loopworth.tools.arguments import ArgumentFault
from loopworth.tools.destination import Destination, Hosts, destination
from loopworth.tools.fault import ToolFault


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://Api.Example.com", Destination("https", "api.example.com", 443, "/")),
        (
            "HTTP://api.example.com.:8080/a%20b?q=1&r=ü#part",
            Destination("http", "api.example.com", 8080, "/a%20b?q=1&r=%C3%BC"),
        ),
        ("http://[2606:4700:0:0::1111]/x", Destination("http", "2606:4700::1111", 80, "/x")),
        ("http://93.184.216.34:80/", Destination("http", "93.184.216.34", 80, "/")),
        ("https://api.example.com/päth", Destination("https", "api.example.com", 443, "/p%C3%A4th")),
    ],
)
def test_a_url_is_read_into_its_parts(url, found):
    """What is checked is what is connected to and what goes over the wire."""
    assert destination(url) == found
    assert destination(found.url) == found


@pytest.mark.parametrize(
    ("url", "status", "said"),
    [
        ("file:///etc/hosts", "not_allowed", "only http and https are allowed, not 'file'"),
        ("gopher://a.example/", "not_allowed", "not 'gopher'"),
        ("javascript:alert(1)", "not_allowed", "not 'javascript'"),
        ("//a.example/x", "invalid_arguments", "has no scheme: write https://…"),
        ("a.example/x", "invalid_arguments", "has no scheme"),
        ("http://user:pw@a.example/", "not_allowed", "no user name and no password"),
        ("http://a.example@127.0.0.1/", "not_allowed", "no user name"),
        ("http://a.example\\@127.0.0.1/", "invalid_arguments", "a backslash"),
        ("http://a.example/\r\nHost: b", "invalid_arguments", "a control character"),
        ("http://a .example/", "invalid_arguments", "a space"),
        ("http:///x", "invalid_arguments", "is no host"),
        ("http://a.example:0/", "invalid_arguments", "names the port 0"),
        ("http://a.example:99999/", "invalid_arguments", "is no URL"),
        ("http://[::1/", "invalid_arguments", "is no URL"),
        ("http://[fe80::1%25eth0]/", "not_allowed", "an odd spelling"),
        ("http://a..example/", "invalid_arguments", "is no host"),
        ("http://\uff41.example/", "invalid_arguments", "write it in ASCII"),
        ("http://2130706433/", "not_allowed", "an odd spelling"),
        ("http://0x7f000001/", "not_allowed", "an odd spelling"),
        ("http://0x7f.0.0.1/", "not_allowed", "an odd spelling"),
        ("http://017700000001/", "not_allowed", "an odd spelling"),
        ("http://0177.0.0.1/", "not_allowed", "an odd spelling"),
        ("http://127.1/", "not_allowed", "an odd spelling"),
        ("http://127.0.0.1./x@y", "ok", "127.0.0.1"),
    ],
)
def test_what_is_no_plain_url_is_refused(url, status, said):
    """Each spelling that two readers could read differently."""
    if status == "ok":
        assert destination(url).host == said
        return
    with pytest.raises(ArgumentFault) as caught:
        destination(url)
    assert (caught.value.status, said in str(caught.value)) == (status, True), str(caught.value)


@given(st.text(max_size=40) | st.text("htps:/@[].0x123%?#a\\ ", max_size=40).map("http://{}".format))
def test_a_url_has_one_reading_or_none(url):
    """Reading what was read again gives the same."""
    try:
        found = destination(url)
    except ArgumentFault:
        return
    assert destination(found.url) == found


PUBLIC = [
    "93.184.216.34",
    "1.1.1.1",
    "2606:4700::1111",
    "::ffff:93.184.216.34",
    "64:ff9b::5db8:d822",
    "2002:5db8:d822::1",
]
PRIVATE = [
    *("0.0.0.0", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1"),
    *("192.0.2.1", "192.168.1.1", "198.18.0.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255"),
    *("::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "fe80::1"),
    *("fec0::1", "fc00::1", "fd00::1", "ff02::1", "2001:db8::1", "2002:7f00:1::1"),
    *("168.63.129.16", "::ffff:168.63.129.16", "192.0.0.192", "192.0.0.8", "192.88.99.1", "3fff::1", "3fff:fff::1"),
    "2001:0:4136:e378:8000:63bf:80ff:fffe",
]  # fmt: skip


@pytest.mark.parametrize("text", PUBLIC)
def test_an_address_open_to_everybody_is_public(text):
    """Also one of IPv4 inside one of IPv6."""
    assert address.public(address.read(text))


@pytest.mark.parametrize("text", [*PRIVATE, "fe80::1%eth0"])
def test_every_other_address_is_private(text):
    """Loopback, link-local, shared, multicast, reserved, documentation; and each of them inside one of IPv6."""
    assert not address.public(address.read(text))


@given(st.ip_addresses(v=4), st.sampled_from(["::ffff:{}", "64:ff9b::{}"]))
def test_an_address_in_disguise_is_judged_as_what_it_is(inner, disguise):
    """No address of IPv4 becomes public by being written as one of IPv6."""
    assert address.public(ipaddress.ip_address(disguise.format(inner))) == address.public(inner)


@given(st.ip_addresses())
def test_no_public_address_is_private_by_any_name(found):
    """Whatever the standard library calls private is private here."""
    if address.public(found):
        bad = (found.is_private, found.is_loopback, found.is_link_local, found.is_multicast, found.is_unspecified)
        assert not any(bad) or (found.version == 6 and address.within(found) is not None)


@pytest.mark.parametrize(
    ("hosts", "url", "allowed"),
    [
        (["api.example.com"], "https://api.example.com/x", True),
        (["API.example.com"], "http://api.example.com/", True),
        (["api.example.com"], "https://api.example.com:8443/", False),
        (["api.example.com:8443"], "https://api.example.com:8443/", True),
        (["api.example.com:8443"], "https://api.example.com/", False),
        (["api.example.com"], "https://example.com/", False),
        (["api.example.com"], "https://api.example.com.evil.example/", False),
        (["*.example.com"], "https://a.b.example.com/", True),
        (["*.example.com"], "https://example.com/", False),
        (["*.example.com"], "https://badexample.com/", False),
        (["*"], "https://anything.example/", True),
        (["*"], "https://anything.example:8080/", False),
        (["[::1]:8080"], "http://[::1]:8080/", True),
    ],
)
def test_only_hosts_of_the_list_are_allowed(hosts, url, allowed):
    """A name is that name, `*.` is what lies below it; without a port it is 80 and 443."""
    check = Hosts.of(hosts).check
    if allowed:
        check(destination(url))
        return
    with pytest.raises(ArgumentFault, match=r"is not allowed: the hosts are") as caught:
        check(destination(url))
    assert caught.value.status == "not_allowed"


@pytest.mark.parametrize(
    "written", ["", "https://a.example", "a.example/x", "a b", "*a.example", "u@a.example", "a.example:x", "*.", "**"]
)
def test_a_host_that_is_none_is_the_authors_fault(written):
    """With what to write instead."""
    with pytest.raises((ToolFault, ArgumentFault)) as caught:
        Hosts.of([written])
    assert isinstance(caught.value, ToolFault)
    assert (caught.value.name, caught.value.instead) == (
        "hosts",
        "write a host such as api.example.com, *.example.com or localhost:8080",
    )


def test_a_redirect_is_read_from_where_it_was_given():
    """A relative one stays on the host; from https it never leads to http."""
    here = destination("https://a.example/x/y?q=1")
    assert here.redirected("z").url == "https://a.example/x/z"
    assert here.redirected("//b.example:8443/").url == "https://b.example:8443/"
    with pytest.raises(ArgumentFault, match="redirects from https to http"):
        here.redirected("http://a.example/")


def test_private_is_for_a_host_named_with_its_port():
    """Only that host and port; a wildcard never leads to a private address."""
    hosts = Hosts.of(["localhost:8080", "*", "*:9090"], private=True)
    assert hosts.trusts(destination("http://localhost:8080/"))
    assert not hosts.trusts(destination("http://localhost:9090/"))
    assert not hosts.trusts(destination("http://other.example/"))
    assert not Hosts.of(["localhost:8080"]).trusts(destination("http://localhost:8080/"))
    with pytest.raises(ToolFault, match="named with its port"):
        Hosts.of(["localhost", "*:8080"], private=True)
