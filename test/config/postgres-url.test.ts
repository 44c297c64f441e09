import { describe, expect, test } from "bun:test";
import { isUnverified, readPostgresUrl } from "../../src/config/postgres-url.ts";

const read = (url: string) => {
  const result = readPostgresUrl(url);
  if (!result.ok) throw new Error(result.error);
  return result.value;
};

describe("state.url", () => {
  test("has host, port, user, password and database, each percent-decoded", () => {
    expect(read("postgres://us%40er:p%23w%2F@db.example:6000/my%20db?sslmode=require")).toEqual({
      host: "db.example",
      port: 6000,
      user: "us@er",
      password: "p#w/",
      database: "my db",
      sslMode: "require",
    });
  });

  test("means port 5432, no password, and verify-full to another machine, when it names none of them", () => {
    expect(read("postgresql://svc@db.example/svc")).toMatchObject({
      port: 5432,
      password: "",
      sslMode: "verify-full",
    });
  });

  test.each(["localhost", "127.0.0.1", "127.1.2.3", "[::1]"])("reaches %s in clear text", (host) => {
    expect(read(`postgres://svc@${host}/svc`).sslMode).toBe("disable");
  });

  test("names the directory of a Unix socket as its parameter host", () => {
    expect(read("postgres://svc@localhost/svc?host=/run/postgresql")).toMatchObject({
      socketPath: "/run/postgresql/.s.PGSQL.5432",
      sslMode: "disable",
    });
  });

  test.each([
    ["mysql://svc@h/svc", "it is not a postgres:// URL"],
    ["nonsense", "it is not a postgres:// URL"],
    ["postgres://h/svc", "it has no user"],
    ["postgres://svc@h", "it has no database, or more than one"],
    ["postgres://svc@h/a/b", "it has no database, or more than one"],
    [
      "postgres://svc@h/svc?sslmode=prefer",
      "its sslmode is none of disable, require, verify-ca, verify-full",
    ],
    ["postgres://svc@h/svc?options=-c", "it has an unknown parameter: options"],
    ["postgres://svc@h/svc?sslmode=require&sslmode=disable", "it has the parameter sslmode twice"],
    ["postgres://svc@h/svc?host=relative", "its parameter host is not the directory of a Unix socket"],
    ["postgres://svc:%zz@h/svc", "it has an invalid percent sequence"],
    ["postgres://svc:a@h/svc#b", "it has a fragment: write # in a password as %23"],
  ])("is refused as %s", (url, error) => {
    expect(readPostgresUrl(url)).toEqual({ ok: false, error });
  });

  test("is a risk where another machine is reached without proof of who it is", () => {
    const modes = ["disable", "require", "verify-ca", "verify-full"];
    expect(modes.map((mode) => isUnverified(read(`postgres://u@h/d?sslmode=${mode}`)))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(isUnverified(read("postgres://u@localhost/d"))).toBe(false);
  });
});
