import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { createSbom } from "../../packaging/sbom.ts";
import { instanceUnitFor, unitFor } from "../../packaging/stage-files.ts";
import { bundleScripts } from "../../src/console/bundle-scripts.ts";
import { mayOverlay, runInOverlay } from "./overlay.ts";
import { writePackagedProgram } from "./packaged-program.ts";

const ROOT = join(import.meta.dir, "../..");
const target = `${process.platform}-${process.arch}`;
const folder = mkdtempSync(join(tmpdir(), "svc-release-"));
const release = join(folder, "release");
const FORMER = [
  `svc-0.0.1-${target}.tar.gz`,
  "npm/svc-client-0.0.1.tgz",
  "svc_0.0.1_amd64.deb",
  "svc-0.0.1.cdx.json",
];
const REPOSITORY = "https://git.example/maker/svc";
const archive = `svc-${packageJson.version}-${target}.tar.gz`;

beforeAll(async () => {
  mkdirSync(join(folder, "binaries"));
  for (const former of FORMER) await Bun.write(join(release, former), "of a former release");
  writePackagedProgram(join(folder, "binaries", `svc-${target}`));
  const args = [
    "--targets",
    target,
    "--binaries",
    join(folder, "binaries"),
    "--outdir",
    release,
    "--no-packages",
    "--repository",
    REPOSITORY,
  ];
  const made = Bun.spawn([process.execPath, "packaging/release.ts", ...args], {
    cwd: ROOT,
    // The archive has to be right, not small.
    env: { ...process.env, GZIP: "-1" },
    stderr: "pipe",
  });
  if ((await made.exited) !== 0) throw new Error(await new Response(made.stderr).text());
}, 180_000);

/** Where the installer downloads from. A test may change what a file says. */
const replaced = new Map<string, string | Blob>();
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch({ url }) {
    const name = new URL(url).pathname.slice(1);
    return new Response(replaced.get(name) ?? Bun.file(join(release, name)));
  },
});
afterAll(async () => {
  await server.stop(true);
  rmSync(folder, { recursive: true, force: true });
});

async function install(
  env: Record<string, string> = {},
  ...args: string[]
): Promise<{ exitCode: number; text: string; home: string }> {
  const home = mkdtempSync(join(folder, "home-"));
  const child = Bun.spawn(["sh", join(release, "install.sh"), ...args], {
    env: {
      PATH: process.env.PATH ?? "",
      HOME: home,
      SVC_PREFIX: join(home, "local"),
      SVC_DOWNLOAD_URL: `http://127.0.0.1:${server.port}`,
      ...env,
    },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, errors, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exitCode, text: out + errors, home };
}

describe("the installer", () => {
  test("installs the program, completions and the manual page, and runs again over itself", async () => {
    const { exitCode, text, home } = await install();
    expect(text).toContain(`Installed ${home}/local/bin/svc (${packageJson.version}).`);
    expect(exitCode).toBe(0);
    const { stdout } = Bun.spawnSync([join(home, "local/bin/svc"), "version"]);
    expect(stdout.toString()).toStartWith(`svc ${packageJson.version}\n`);
    for (const path of ["man/man1/svc.1", "bash-completion/completions/svc", "zsh/site-functions/_svc"])
      expect(await Bun.file(join(home, "local/share", path)).exists()).toBe(true);
    expect((await install({ SVC_PREFIX: join(home, "local") })).exitCode).toBe(0);
  }, 180_000);

  test("installs nothing whose checksum is wrong", async () => {
    replaced.set(archive, "not the archive");
    const { exitCode, text, home } = await install();
    replaced.clear();
    expect(text).toContain(`the checksum of ${archive} is wrong: nothing was installed`);
    expect(exitCode).toBe(1);
    expect(await Bun.file(join(home, "local/bin/svc")).exists()).toBe(false);
  });

  test("--uninstall removes what was installed, and nothing else", async () => {
    const { home } = await install();
    const own = { SVC_PREFIX: join(home, "local") };
    await Bun.write(join(home, "local/share/man/man1/other.1"), "of another program");
    const { exitCode, text } = await install(own, "--uninstall");
    expect([exitCode, text]).toEqual([0, `Removed ${home}/local/bin/svc.\n`]);
    expect([...new Bun.Glob("**/*").scanSync(join(home, "local"))]).toEqual(["share/man/man1/other.1"]);
    expect((await install(own, "--uninstall")).text).toContain(`there is no ${home}/local/bin/svc`);
    expect((await install(own, "--remove")).text).toContain("unknown option: --remove");
  });

  test("without minisign a key that was asked for is refused, and none is asked for by itself", async () => {
    const tools = mkdtempSync(join(folder, "tools-"));
    for (const tool of "sh uname id ls getconf grep mktemp rm curl sha256sum tar gzip mkdir cp chmod mv cat dirname true".split(
      " ",
    )) {
      const path = Bun.which(tool);
      if (path) symlinkSync(path, join(tools, tool));
    }
    const { text } = await install({ PATH: tools, SVC_PUBLIC_KEY: "RWQ" });
    expect(text).toContain("it needs minisign to check the signature");
  });

  test.skipIf(Bun.which("minisign") === null)(
    "checks who signed the checksums, where minisign is there",
    async () => {
      const keys = mkdtempSync(join(folder, "keys-"));
      const keyOf = (name: string) => {
        const [secret, pub] = [join(keys, name), join(keys, `${name}.pub`)];
        Bun.spawnSync(["minisign", "-G", "-W", "-s", secret, "-p", pub], { stdin: "ignore" });
        return { secret, text: readFileSync(pub, "utf8").trim().split("\n").at(-1) ?? "" };
      };
      const [own, other] = [keyOf("own"), keyOf("other")];
      const sums = join(release, "SHA256SUMS");
      const signature = join(keys, "SHA256SUMS.minisig");
      Bun.spawnSync(["minisign", "-S", "-s", own.secret, "-m", sums, "-x", signature]);
      replaced.set("SHA256SUMS.minisig", readFileSync(signature, "utf8"));
      expect((await install({ SVC_PUBLIC_KEY: own.text })).exitCode).toBe(0);
      const forged = await install({ SVC_PUBLIC_KEY: other.text });
      replaced.set("SHA256SUMS", `${readFileSync(sums, "utf8")}${"0".repeat(64)}  more\n`);
      const changed = await install({ SVC_PUBLIC_KEY: own.text });
      replaced.clear();
      for (const { exitCode, text } of [forged, changed]) {
        expect(text).toContain("the signature of SHA256SUMS is wrong: nothing was installed");
        expect(exitCode).toBe(1);
      }
    },
    180_000,
  );

  test("leaves no files when it is stopped by Ctrl-C", async () => {
    const temporary = mkdtempSync(join(folder, "tmp-"));
    const asked = Promise.withResolvers<void>();
    using silent = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => {
        asked.resolve();
        return new Promise<Response>(() => undefined);
      },
    });
    const child = Bun.spawn(["sh", join(release, "install.sh")], {
      env: {
        PATH: process.env.PATH ?? "",
        HOME: temporary,
        TMPDIR: temporary,
        SVC_DOWNLOAD_URL: `http://127.0.0.1:${silent.port}`,
      },
      detached: true,
      stderr: "ignore",
    });
    await asked.promise;
    expect(readdirSync(temporary)).toHaveLength(1);
    // A terminal signals the group: the shell and its download.
    process.kill(-child.pid, "SIGINT");
    expect(await child.exited).toBe(130);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("keeps the installed program where the one of the release does not start", async () => {
    const { home } = await install();
    const name = archive.replace(".tar.gz", "");
    const broken = join(folder, name);
    mkdirSync(broken, { recursive: true });
    await Bun.write(join(broken, "svc"), "#!/bin/sh\nexit 1\n");
    Bun.spawnSync(["tar", "-C", folder, "-czf", join(folder, archive), name]);
    const bytes = await Bun.file(join(folder, archive)).bytes();
    const hash = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
    replaced.set(archive, new Blob([bytes]));
    replaced.set("SHA256SUMS", `${hash}  ${archive}\n`);
    const { exitCode, text } = await install({ SVC_PREFIX: join(home, "local") });
    replaced.clear();
    expect(text).toContain("the program does not start on this machine: nothing was installed");
    expect(exitCode).toBe(1);
    expect(Bun.spawnSync([join(home, "local/bin/svc"), "version"]).exitCode).toBe(0);
    expect([...new Bun.Glob("svc*").scanSync(join(home, "local/bin"))]).toEqual(["svc"]);
  }, 180_000);

  test("refuses a release without this machine's archive, a missing URL and one without TLS", async () => {
    replaced.set("SHA256SUMS", "");
    expect((await install()).text).toContain(`the release has no ${archive}`);
    replaced.clear();
    expect((await install({ SVC_DOWNLOAD_URL: "" })).text).toContain("set SVC_DOWNLOAD_URL");
    expect((await install({ SVC_DOWNLOAD_URL: "http://example.com" })).text).toContain("insecure connection");
  });
});

test.skipIf(!(await mayOverlay()))(
  "as root with a strict umask, it installs what the service and other users can read",
  async () => {
    const { out } = await runInOverlay(
      `umask 077
mkdir -p /run/systemd/system /opt/fake
printf '#!/bin/sh\n[ "$1" != is-active ]\n' > /opt/fake/systemctl; chmod 755 /opt/fake/systemctl
PATH=/opt/fake:$PATH SVC_DOWNLOAD_URL=file://${release} sh ${release}/install.sh | sed '/is not in PATH/d'
stat -c '%U %G %a' /etc/svc/svc.toml /var/lib/svc
stat -c '%a' /etc/systemd/system/svc.service /usr/local/share/man/man1/svc.1 /usr/local/share/fish
/usr/local/bin/svc init --all --upstream http://127.0.0.1:1 --no-estimate --set upstream.username=me --set upstream.password=hunter22 --output /etc/svc/svc.toml --force > /dev/null
stat -c '%n %U %a' /etc/svc/*
cd /; setpriv --reuid svc --regid svc --clear-groups /usr/local/bin/svc --log-level warn config check
mkdir /tmp/alice; cd /tmp/alice; echo '[http]' > svc.toml; chmod 755 . svc.toml; chown -R nobody /tmp/alice
/usr/local/bin/svc --log-level warn config check 2>&1 | grep -oE 'belongs to.*read|The settings.*'
setpriv --reuid daemon --clear-groups /usr/local/bin/svc config check 2>&1 | tail -1 | sed 's|;.*||'`,
      folder,
    );
    expect(out.trim().split("\n")).toEqual([
      `Installed /usr/local/bin/svc (${packageJson.version}).`,
      "Choose the users that it serves: svc init --output /etc/svc/svc.toml --force",
      "Then: svc doctor, systemctl enable --now svc",
      "root root 644",
      "svc svc 700",
      "644",
      "644",
      "755",
      "/etc/svc/svc.toml root 644",
      "/etc/svc/svc.upstream.password svc 600",
      "The settings are valid (/etc/svc/svc.toml).",
      "belongs to another user (65534); name it by --config if it is to count, and was not read",
      "The settings are valid (/etc/svc/svc.toml).",
      "error: /tmp/alice/svc.toml: belongs to another user (65534)",
    ]);
  },
  60_000,
);

test.skipIf(!(await mayOverlay()))(
  "keeps an edited unit, replaces one of an earlier release, and asks for a program without AVX2 where there is none",
  async () => {
    const { out } = await runInOverlay(
      `mkdir -p /run/systemd/system /opt/fake
printf '#!/bin/sh\n[ "$1" != is-active ]\n' > /opt/fake/systemctl; chmod 755 /opt/fake/systemctl
unit=/etc/systemd/system/svc.service; written=/usr/local/share/svc/svc.service
again() { PATH=/opt/fake:$PATH SVC_DOWNLOAD_URL=file://${release} sh ${release}/install.sh 2>&1 | grep "$1" || true; }
again Kept; cp $unit /tmp/new
echo '# of a former release' > $unit; cp $unit $written
again Kept; cmp $unit /tmp/new; ls $unit.new 2> /dev/null || echo "nothing beside it"
echo '# edited' >> $unit
again Kept; tail -1 $unit; cmp $unit.new /tmp/new
again Kept; tail -1 $unit
cp /tmp/new $unit; again Kept; ls $unit.new 2> /dev/null || echo "nothing beside it"
sed 's/avx2//' /proc/cpuinfo > /tmp/cpuinfo; mount --bind /tmp/cpuinfo /proc/cpuinfo
again 'release has no'`,
      folder,
    );
    const kept =
      "Kept /etc/systemd/system/svc.service, which differs from the one of a release. The new one is /etc/systemd/system/svc.service.new.";
    expect(out.trim().split("\n")).toEqual([
      "nothing beside it",
      kept,
      "# edited",
      kept,
      "# edited",
      "nothing beside it",
      ...(process.arch === "x64"
        ? [`install.sh: the release has no ${archive.replace(".tar.gz", "-baseline.tar.gz")}`]
        : []),
    ]);
  },
  60_000,
);

test("SHA256SUMS has the checksum of every other file", async () => {
  const { stdout, success } = Bun.spawnSync(["sha256sum", "-c", "SHA256SUMS"], { cwd: release });
  expect(success).toBe(true);
  const listed = stdout
    .toString()
    .split("\n")
    .filter(Boolean)
    .map((line) => line.replace(/: OK$/, ""));
  for (const former of FORMER) expect(listed).not.toContain(former);
  expect([...listed, "SHA256SUMS"].sort()).toEqual([...new Bun.Glob("*").scanSync(release)].sort());
});

test("the archive has what an operator needs beside the program", () => {
  const { stdout } = Bun.spawnSync(["tar", "-tzf", join(release, archive)]);
  const names = stdout
    .toString()
    .split("\n")
    .filter((name) => name !== "" && !name.endsWith("/"));
  const prefix = `${archive.replace(".tar.gz", "")}/`;
  expect(names.map((name) => name.slice(prefix.length)).sort()).toEqual([
    "CHANGELOG.md",
    "LICENSE",
    "completions/_svc",
    "completions/svc.bash",
    "completions/svc.fish",
    "monitoring/grafana-dashboard.json",
    "monitoring/prometheus.yml",
    "monitoring/rules.yml",
    "svc",
    "svc.1",
    "svc.service",
    "svc.toml",
    "svc@.service",
  ]);
});

/** The packages of which the page has code, and what its notices name beside them. */
async function pagePackages(): Promise<string[]> {
  const root = join(ROOT, "src/console/web");
  const bundle = await bundleScripts({ root, entry: "main.tsx", firstPages: [] });
  expect(bundle.packages).toContain("preact");
  return [...bundle.packages, "lucide-static"];
}

test("the packages of npm are the launcher, the program and the client, of one version", () => {
  expect([...new Bun.Glob("*").scanSync(join(release, "npm"))].sort()).toEqual(
    [`svc-node-${target}`, "svc-node", "svc-client"]
      .map((name) => `${name}-${packageJson.version}.tgz`)
      .sort(),
  );
});

test("the client's package and the bill of materials name the repository, and its issues as the place for bugs", async () => {
  const folder = mkdtempSync(join(release, "..", "client-"));
  Bun.spawnSync(["tar", "-xzf", join(release, `npm/svc-client-${packageJson.version}.tgz`), "-C", folder]);
  expect(await Bun.file(join(folder, "package/package.json")).json()).toMatchObject({
    repository: { type: "git", url: `git+${REPOSITORY}.git` },
    bugs: { url: `${REPOSITORY}/issues` },
  });
  const { metadata } = await Bun.file(join(release, `svc-${packageJson.version}.cdx.json`)).json();
  expect(metadata.component.externalReferences).toEqual([
    { type: "vcs", url: REPOSITORY },
    { type: "issue-tracker", url: `${REPOSITORY}/issues` },
  ]);
});

test("the document lists every kind of file that a release has", async () => {
  const text = await Bun.file(join(ROOT, "docs/operate/install.md")).text();
  const script = await Bun.file(join(ROOT, "packaging/release.ts")).text();
  const [, targets = ""] = /const TARGETS = \[([^\]]*)\]/.exec(script) ?? [];
  const platforms = [...targets.matchAll(/"([\w-]+)"/g)].map(([, name = ""]) => name);
  for (const platform of platforms) expect(text).toContain(`\`${platform}\``);
  expect(platforms).toContain("linux-x64-musl-baseline");
  const general = [...new Bun.Glob("**").scanSync(release)].map((name) =>
    name.replace(packageJson.version, "<version>").replace(target, "<platform>"),
  );
  for (const name of [...general, "svc_<version>_amd64.deb"]) expect(text).toContain(`\`${name}\``);
});

describe("the bill of materials", () => {
  test("names every package that the program ships, with its licence, and none of the tests", async () => {
    const { components } = (await createSbom({ timestamp: "2026-11-22T00:00:00Z" })) as {
      components: { name: string; version: string; purl: string; licenses?: unknown }[];
    };
    const names = components.map(({ name }) => name);
    for (const [name, version] of Object.entries(packageJson.dependencies))
      expect(components).toContainEqual(
        expect.objectContaining({ name, version, licenses: expect.anything() }),
      );
    for (const name of ["@farcaster/hub-nodejs", "typescript", "playwright-core"])
      expect(names).not.toContain(name);
    expect(names).toContain("bun");
    expect(components.filter(({ licenses }) => licenses === undefined)).toEqual([]);
    expect(new Set(components.map((component) => JSON.stringify(component))).size).toBe(components.length);
    for (const name of await pagePackages()) expect(names).toContain(name);
  });
});

describe("svc version --check", () => {
  const check = async (from: string, version: string) => {
    const { newestRelease } = await import("../../src/cli/client/newest-release.ts");
    return newestRelease(from, version);
  };
  const at = () => `http://127.0.0.1:${server.port}`;

  test("names the release of a folder, with its notes where it is newer", async () => {
    const newer = await check(at(), "0.0.9");
    expect(newer).toEqual({
      newest: packageJson.version,
      isNewer: true,
      notes: await Bun.file(join(release, "NOTES.md")).text(),
    });
    expect(newer.notes?.length).toBeGreaterThan(500);
    expect(await check(at(), packageJson.version)).toMatchObject({ isNewer: false, notes: null });
    expect(await check(at(), "9.0.0")).toMatchObject({ isNewer: false });
  });

  test("refuses a folder without a release, one without TLS, and a redirect to one", async () => {
    replaced.set("SHA256SUMS", "nothing");
    await expect(check(at(), "0.1.0")).rejects.toThrow("has no release");
    replaced.clear();
    await expect(check("http://releases.example", "0.1.0")).rejects.toThrow("is not an https URL");
    using away = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => Response.redirect("http://releases.example/x"),
    });
    await expect(check(`http://127.0.0.1:${away.port}`, "0.1.0")).rejects.toThrow("is not an https URL");
    using around = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: ({ url }) => Response.redirect(url) });
    await expect(check(`http://127.0.0.1:${around.port}`, "0.1.0")).rejects.toThrow("redirects too often");
  });
});

test("the unit of several nodes differs from that of one in its name, settings and data only", async () => {
  const [one, several] = [await unitFor("/usr/bin/svc"), await instanceUnitFor("/usr/bin/svc")];
  const changed = several.split("\n").filter((line) => !one.split("\n").includes(line));
  expect(changed).toEqual([
    "Description=svc %i",
    "Environment=SVC_DATA_DIR=/var/lib/svc-%i",
    "ExecStart=/usr/bin/svc --config /etc/svc/%i.toml serve --migrate",
    "StateDirectory=svc-%i",
  ]);
});
