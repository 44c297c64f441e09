import { describe, expect, test } from "bun:test";
import { symlinkSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { readSmallFile } from "../../src/config/files/small-file.ts";
import { fromSources, tempDir } from "../support/program.ts";
import { load, problemsOf, type Sources } from "./input.ts";

const LOCAL = "/cwd/svc.toml";
const SYSTEM = "/etc/svc/svc.toml";
const files = { [LOCAL]: "[http]\nport = 1", [SYSTEM]: "[http]\nport = 2" };

function refused(syscall: string): Error {
  return Object.assign(new Error(`EACCES: permission denied, ${syscall}`), { code: "EACCES", syscall });
}

describe("a settings file that was found", () => {
  test("counts when it is the user's or root's, and only they can write it", () => {
    const facts = fc.record({
      uid: fc.constantFrom(0, 1000, 1001),
      gid: fc.constantFrom(0, 1000, 1001),
      mode: fc.integer({ min: 0, max: 0o777 }).map((mode) => mode | 0o100_000),
    });
    fc.assert(
      fc.property(facts, fc.constantFrom(0, 1000), (file, uid) => {
        const isOwn = file.uid === uid || file.uid === 0;
        const othersWrite = (file.mode & 0o002) !== 0 || ((file.mode & 0o020) !== 0 && file.gid !== file.uid);
        const sources: Sources = { files: { [LOCAL]: files[LOCAL] ?? "" }, facts: { [LOCAL]: file }, uid };
        if (isOwn && !othersWrite) expect(load(sources).file).toBe(LOCAL);
        else expect(problemsOf(sources)).toMatchObject([{ key: LOCAL, source: "settings file" }]);
      }),
    );
  });

  test("is a symbolic link of another user is refused, also one to a file of root", () => {
    for (const uid of [0, 1000]) {
      const sources = { files: { [LOCAL]: files[LOCAL] ?? "" }, facts: { [LOCAL]: { linkUid: 1001 } }, uid };
      expect(problemsOf(sources)).toMatchObject([
        {
          key: LOCAL,
          message: "is a symbolic link of another user (1001); name it by --config if it is to count",
        },
      ]);
      for (const linkUid of [0, uid])
        expect(load({ ...sources, facts: { [LOCAL]: { linkUid } } }).file).toBe(LOCAL);
    }
    const linked = { files: { [SYSTEM]: files[SYSTEM] ?? "" }, facts: { [SYSTEM]: { linkUid: 1001 } } };
    expect(load(linked).file).toBe(SYSTEM);
  });

  test("that is a pipe is refused rather than waited for", () => {
    using dir = tempDir();
    expect(Bun.spawnSync(["mkfifo", "-m", "600", `${dir.path}/svc.toml`]).exitCode).toBe(0);
    const { exitCode, stderr } = Bun.spawnSync([...fromSources, "config", "print"], {
      cwd: dir.path,
      env: { PATH: process.env.PATH ?? "", HOME: dir.path },
      timeout: 50_000,
    });
    expect(stderr.toString()).toContain("svc.toml: is not a regular file");
    expect(exitCode).toBe(1);
  });

  test("of another user stops a command of an ordinary user, and root takes the system's and says so", () => {
    const facts = { [LOCAL]: { uid: 1001 } };
    expect(problemsOf({ files, facts, uid: 1000 })).toMatchObject([
      { key: LOCAL, message: "belongs to another user (1001); name it by --config if it is to count" },
    ]);
    const { config, file, warnings } = load({ files, facts, uid: 0 });
    expect([config.http.port, file]).toEqual([2, SYSTEM]);
    expect(warnings).toEqual([
      `${LOCAL} belongs to another user (1001); name it by --config if it is to count, and was not read`,
    ]);
    expect(problemsOf({ files: { [LOCAL]: files[LOCAL] ?? "" }, facts, uid: 0 })).toMatchObject([
      { key: LOCAL },
    ]);
  });

  test("that others can write is refused in the system's place, too", () => {
    const facts = { [SYSTEM]: { mode: 0o100_666 } };
    expect(problemsOf({ files: { [SYSTEM]: files[SYSTEM] ?? "" }, facts })).toMatchObject([
      { key: SYSTEM, message: "can be written by other users; chmod go-w makes it safe" },
    ]);
    const ofService = { [SYSTEM]: { uid: 107, gid: 107 } };
    expect(load({ files: { [SYSTEM]: files[SYSTEM] ?? "" }, facts: ofService }).file).toBe(SYSTEM);
  });

  test("counts when it is named, also one that any user can write", () => {
    const facts = { [LOCAL]: { uid: 1001, mode: 0o100_666 } };
    expect(load({ files, facts, uid: 1000, flags: { config: LOCAL } }).file).toBe(LOCAL);
  });

  test("does not matter in a directory that may not be entered, as for sudo -u in the home of an operator", () => {
    expect(load({ files: { ...files, [LOCAL]: refused("stat") }, uid: 107 }).file).toBe(SYSTEM);
    expect(problemsOf({ files: { ...files, [LOCAL]: refused("open") }, uid: 107 })).toMatchObject([
      { key: LOCAL },
    ]);
  });
});

test("the facts of a file name the owner of the link to it", () => {
  using dir = tempDir();
  const [file, link] = [`${dir.path}/file`, `${dir.path}/link`];
  writeFileSync(file, "text");
  symlinkSync(file, link);
  const linkUids = (path: string) => {
    const seen: (number | undefined)[] = [];
    expect(readSmallFile(path, ({ linkUid }) => seen.push(linkUid))).toBe("text");
    return new Set(seen);
  };
  expect(linkUids(file)).toEqual(new Set([undefined]));
  expect(linkUids(link)).toEqual(new Set([process.getuid?.()]));
});

describe("the settings of a client", () => {
  const client = (sources: Sources) => load({ uid: 1000, ...sources }, "client");

  test("are those of a file without the secrets that only the node may read", () => {
    const toml =
      "[http]\nport = 9\n[upstream]\nusername = 'me'\npassword_file = '/etc/svc/password'\nfid_file = '/fids'";
    const sources = {
      files: { [SYSTEM]: toml, "/etc/svc/password": refused("open"), "/fids": refused("open") },
    };
    expect(problemsOf({ ...sources, uid: 1000 }).map(({ key }) => key)).toEqual([
      "upstream.password",
      "upstream.fid_file",
    ]);
    const { config } = client(sources);
    expect([config.http.port, config.upstream.password]).toEqual([9, ""]);
  });

  test("are the defaults where the file may not be read, with a warning", () => {
    const { config, file, warnings } = client({ files: { [SYSTEM]: refused("open") } });
    expect([config.http.port, file]).toEqual([8080, undefined]);
    expect(warnings).toEqual([
      `${SYSTEM} cannot be read: EACCES: permission denied, open; the defaults apply`,
    ]);
    expect(
      problemsOf({ files: { [SYSTEM]: refused("open") }, flags: { config: SYSTEM } }, "client"),
    ).toHaveLength(1);
  });

  test("have what is wrong with its own sections as errors, and nothing else", () => {
    const wrong = "[webhooks]\nnope = 1\nrate_limit = 0\n[nope]\nx = 1\n[http]\nport = 9\nprot = 1";
    expect(problemsOf({ files: { [SYSTEM]: wrong } }, "client").map(({ key }) => key)).toEqual(["http.prot"]);
    expect(client({ files: { [SYSTEM]: wrong.replace("prot = 1", "") } }).config.http.port).toBe(9);
  });
});

test("a secret in a file that every user can read is named, an address without one is not", () => {
  const toml = `[upstream]\nurl = "http://host:3383"\n[state]\npassword = "hunter22"\n[signers]\nencryption_key_file = "/key"`;
  const sources = { files: { [SYSTEM]: toml, "/key": "ab".repeat(32) } };
  expect(load({ ...sources, facts: { [SYSTEM]: { mode: 0o100_640 } } }).warnings).toEqual([]);
  expect(load({ ...sources, facts: { [SYSTEM]: { mode: 0o100_644 } } }).warnings).toEqual([
    `${SYSTEM} has state.password and can be read by every user: put it into a file of its own, and name that as state.password_file`,
  ]);
});
