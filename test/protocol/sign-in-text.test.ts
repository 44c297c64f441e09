import { expect, test } from "bun:test";
import { parseSiweMessage } from "viem/siwe";
import { signInText } from "../../src/protocol/sign-in-text.ts";

const TEXT = {
  domain: "app.example",
  address: "0x8773442740C17C9d0F0B87022c722F9a136206eD",
  uri: "https://app.example/login",
  nonce: "abcdef0123456789",
  issuedAtMs: Date.UTC(2026, 0, 2),
  fid: 7,
};
const OPTIONAL = {
  expirationTime: "2026-01-03T00:00:00.000Z",
  notBefore: "2026-01-01T00:00:00.000Z",
  requestId: "request-1",
};

test("a wallet's library reads every field of the text, and none that was not given", () => {
  const { fid, issuedAtMs, ...plain } = TEXT;
  const fields = { ...plain, issuedAt: new Date(issuedAtMs), resources: [`farcaster://fid/${fid}`] };
  const read = {
    expirationTime: new Date(OPTIONAL.expirationTime),
    notBefore: new Date(OPTIONAL.notBefore),
    requestId: OPTIONAL.requestId,
  };
  const optional = (text: string) => {
    const { expirationTime, notBefore, requestId, ...rest } = parseSiweMessage(text);
    expect(rest as unknown).toMatchObject(fields);
    return { expirationTime, notBefore, requestId };
  };
  const none = { expirationTime: undefined, notBefore: undefined, requestId: undefined };
  expect(optional(signInText(TEXT))).toEqual(none);
  for (const name of ["expirationTime", "notBefore", "requestId"] as const)
    expect(optional(signInText({ ...TEXT, [name]: OPTIONAL[name] }))).toEqual({
      ...none,
      [name]: read[name],
    });
});
