import { expect, test } from "bun:test";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureOperatorToken, readOperatorToken } from "../../../src/console/operator/operator-token.ts";
import { UserError } from "../../../src/lib/failure.ts";
import { tempDir } from "../../support/program.ts";

test("the operator's token is made once, readable only by its owner", () => {
  using dir = tempDir();
  const token = ensureOperatorToken(dir.path);
  expect(token).toMatch(/^\w{44}$/);
  expect(statSync(join(dir.path, "operator.token")).mode & 0o777).toBe(0o600);
  expect(ensureOperatorToken(dir.path)).toBe(token);
  expect(readOperatorToken(dir.path)).toBe(token);
});

test("replaces a token that is invalid or that others could read", () => {
  using dir = tempDir();
  const path = join(dir.path, "operator.token");
  const token = ensureOperatorToken(dir.path);
  chmodSync(path, 0o644);
  const next = ensureOperatorToken(dir.path);
  expect(next).not.toBe(token);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  for (const content of ["", "short\n", "x".repeat(10_000)]) {
    writeFileSync(path, content);
    expect(ensureOperatorToken(dir.path)).toBe(readFileSync(path, "utf8").trim());
    expect(readOperatorToken(dir.path)).toMatch(/^\w{44}$/);
  }
});

test("without a token the error says where it is read from", () => {
  using dir = tempDir();
  expect(() => readOperatorToken(dir.path)).toThrow(UserError);
  for (const content of ["", "short\n"]) {
    writeFileSync(join(dir.path, "operator.token"), content);
    expect(() => readOperatorToken(dir.path)).toThrow("has no operator token. Restart the node");
  }
});
