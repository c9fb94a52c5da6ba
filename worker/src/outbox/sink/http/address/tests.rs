//! The tables' promises.

use super::*;

#[test]
fn only_public_addresses_may_be_called() {
    for (text, expected) in [
        ("1.1.1.1", None),
        ("8.8.8.8", None),
        ("9.255.255.255", None),
        ("11.0.0.0", None),
        ("100.63.255.255", None),
        ("100.128.0.0", None),
        ("172.15.255.255", None),
        ("172.32.0.0", None),
        ("223.255.255.255", None),
        ("2606:4700:4700::1111", None),
        ("2a00:1450:4001:81b::200e", None),
        ("::ffff:1.1.1.1", None),
        ("0.0.0.0", Some(Special::Unspecified)),
        ("0.1.2.3", Some(Special::Unspecified)),
        ("10.0.0.1", Some(Special::Private)),
        ("10.255.255.255", Some(Special::Private)),
        ("100.64.0.1", Some(Special::CarrierGrade)),
        ("100.127.255.255", Some(Special::CarrierGrade)),
        ("127.0.0.1", Some(Special::Loopback)),
        ("127.255.255.254", Some(Special::Loopback)),
        ("168.63.129.16", Some(Special::Protocol)),
        ("169.254.169.254", Some(Special::LinkLocal)),
        ("172.16.0.1", Some(Special::Private)),
        ("172.31.255.255", Some(Special::Private)),
        ("192.0.0.192", Some(Special::Protocol)),
        ("192.0.2.1", Some(Special::Documentation)),
        ("192.88.99.1", Some(Special::Translated)),
        ("192.168.1.1", Some(Special::Private)),
        ("198.18.0.1", Some(Special::Benchmark)),
        ("198.19.255.255", Some(Special::Benchmark)),
        ("198.51.100.7", Some(Special::Documentation)),
        ("203.0.113.7", Some(Special::Documentation)),
        ("224.0.0.1", Some(Special::Multicast)),
        ("239.255.255.255", Some(Special::Multicast)),
        ("240.0.0.1", Some(Special::Reserved)),
        ("255.255.255.255", Some(Special::Reserved)),
        ("::", Some(Special::Unspecified)),
        ("::1", Some(Special::Loopback)),
        ("::127.0.0.1", Some(Special::Translated)),
        ("::ffff:127.0.0.1", Some(Special::Loopback)),
        ("::ffff:10.0.0.1", Some(Special::Private)),
        ("::ffff:169.254.169.254", Some(Special::LinkLocal)),
        ("::ffff:0:127.0.0.1", Some(Special::Reserved)),
        ("64:ff9b::7f00:1", Some(Special::Translated)),
        ("64:ff9b::8.8.8.8", Some(Special::Translated)),
        ("64:ff9b:1::a00:1", Some(Special::Translated)),
        ("100::1", Some(Special::Reserved)),
        ("2001::1", Some(Special::Translated)),
        ("2001:2::1", Some(Special::Protocol)),
        ("2001:10::1", Some(Special::Protocol)),
        ("2001:db8::1", Some(Special::Documentation)),
        ("2002:7f00:1::", Some(Special::Translated)),
        ("3fff::1", Some(Special::Documentation)),
        ("5f00::1", Some(Special::Reserved)),
        ("fc00::1", Some(Special::Private)),
        ("fd00:ec2::254", Some(Special::Private)),
        ("fe80::1", Some(Special::LinkLocal)),
        ("fec0::1", Some(Special::Private)),
        ("ff02::1", Some(Special::Multicast)),
    ] {
        assert_eq!(refused(text.parse().unwrap(), &[]), expected, "{text}");
    }
}

#[test]
fn an_allowed_network_opens_itself_and_no_other_also_in_its_mapped_form() {
    let allowed = ["10.1.0.0/16".parse().unwrap(), "fd00::/8".parse().unwrap()];
    for (text, expected) in [
        ("10.1.2.3", None),
        ("::ffff:10.1.2.3", None),
        ("fd12::1", None),
        ("10.2.0.1", Some(Special::Private)),
        ("fc00::1", Some(Special::Private)),
        ("127.0.0.1", Some(Special::Loopback)),
        ("64:ff9b::a01:203", Some(Special::Translated)),
    ] {
        assert_eq!(refused(text.parse().unwrap(), &allowed), expected, "{text}");
    }
}
