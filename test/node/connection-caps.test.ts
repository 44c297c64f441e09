import { expect, test } from "bun:test";
import { connectionCaps } from "../../src/node/connection-caps.ts";
import { configWith } from "../runtime/config.ts";

const config = configWith("stream.max_connections=900", "hub.max_subscribers=100");

test("streams and subscribers take at most half of the descriptors at which connections are refused", () => {
  expect(connectionCaps(config, undefined)).toEqual({ streams: 900, subscribers: 100, isLowered: false });
  expect(connectionCaps(config, { cap: 2000 })).toEqual({ streams: 900, subscribers: 100, isLowered: false });
  expect(connectionCaps(config, { cap: 1000 })).toEqual({ streams: 450, subscribers: 50, isLowered: true });
  expect(connectionCaps(config, { cap: 2 })).toEqual({ streams: 1, subscribers: 1, isLowered: true });
});

test("a part that is disabled takes none", () => {
  const disabled = configWith("stream.enabled=false", "hub.reads=false");
  expect(connectionCaps(disabled, { cap: 10 })).toEqual({ streams: 0, subscribers: 0, isLowered: false });
});
