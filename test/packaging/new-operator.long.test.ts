import { afterAll, expect, test } from "bun:test";
import { chmodSync, copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildDeb } from "../../packaging/deb.ts";
import { grafanaDashboard } from "../../packaging/monitoring/dashboard.ts";
import { compiledFile } from "../support/compiled-program.ts";
import { documentExample } from "../support/documents.ts";
import { IS_LONG } from "../support/long.ts";
import { mayBoot, runOnMachine } from "./machine.ts";

/**
 * A new operator on a machine with systemd, the package and the commands of docs/getting-started.md, as an ordinary user who may use
 * sudo, from a home that others cannot enter: a node that follows another, under the rules of its unit, with dashboard and backup, in
 * less than ten minutes.
 */

const prometheus = Bun.which("prometheus");
const boots = IS_LONG && (await mayBoot());
const canRun = boots && prometheus !== null && Bun.which("sudo") !== null;
if (IS_LONG && !canRun)
  console.warn("The new operator is not played: that needs root, systemd, sudo and prometheus.");

const shared = mkdtempSync(join(tmpdir(), "svc-operator-"));
afterAll(() => rmSync(shared, { recursive: true, force: true }));

/** The results of `check` in a transcript, by name. */
const checksIn = (out: string) =>
  Object.fromEntries([...out.matchAll(/^== (.*?): (.*?) *$/gm)].map(([, name, said]) => [name, said]));

function buildPackage(): Promise<unknown> {
  const architecture = process.arch === "arm64" ? "arm64" : "amd64";
  return buildDeb({
    binary: compiledFile,
    architecture,
    outdir: shared,
    date: "2026-11-22",
    compressed: false,
  });
}

/** The followed node is a demo network on an address of its own, whose name the machine knows. */
const BEFORE = `
echo "127.0.0.1 $(hostname)" >> /etc/hosts
useradd --create-home --shell /bin/bash olivia
chmod 700 /home/olivia
echo 'olivia ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/olivia
cp /shared/svc_*.deb /home/olivia
step() { echo "@@ $(( $(date +%s) - started )) s: $1"; }
check() { echo "== $1: $(eval "$2" 2>&1 | tr '\\n' ' ')"; }
echo "127.0.0.2 snapchain.example" >> /etc/hosts
# Registered apps need a public address; nothing is sent to it.
echo "8.8.8.8 bread.example" >> /etc/hosts
systemd-run --quiet --unit=followed /shared/followed --data-dir /var/lib/followed --host 127.0.0.2 --set hub.host=127.0.0.2 serve --demo
until /shared/followed healthcheck http://127.0.0.2:8080 > /dev/null 2>&1; do sleep 0.5; done
/shared/followed demo keys --fid 3 --custody > /root/fid-3.key; chmod 600 /root/fid-3.key
started=$(date +%s)
`;

/** The commands as the operator runs them. */
function asOperator(commands: string): string {
  return `su - olivia -c 'bash -eu' << 'COMMANDS'\n${commands}\nCOMMANDS`;
}

const APP = "svc app list --fid 3 --key-file /root/fid-3.key --json 2> /dev/null";

test.skipIf(!canRun)(
  "a new operator has a node on data of a followed one, with dashboard and backup, in less than ten minutes",
  async () => {
    await buildPackage();
    copyFileSync(compiledFile, join(shared, "followed"));
    copyFileSync(prometheus ?? "", join(shared, "prometheus"));
    for (const file of ["", "followed", "prometheus"]) chmodSync(join(shared, file), 0o755);
    const { panels } = grafanaDashboard() as { panels: { targets?: { expr: string }[] }[] };
    const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    const asked = queries.map((expr) =>
      expr.replaceAll("$__rate_interval", "1m").replaceAll("$instance", ".*"),
    );
    await Bun.write(join(shared, "queries"), `${asked.join("\n")}\n`);
    const out = await runOnMachine(
      `${BEFORE}
step "install the package"
${asOperator(documentExample("operator installs"))}
step "settings, checks, start"
${asOperator(documentExample("operator sets up"))}
echo
step "the node is ready"
pid=$(systemctl show svc --property MainPID --value)
check user "stat -c %U /proc/$pid"
check rules "grep -E '^(CapEff|NoNewPrivs|Seccomp):' /proc/$pid/status"
check filesystem "nsenter --mount --target $pid touch /etc/written"
svc app create --fid 3 --key-file /root/fid-3.key --name Bread --app-url https://bread.example --json > /root/app
check apps "${APP} | grep -c '\\"name\\": \\"Bread\\"'"
step "prometheus"
${asOperator(documentExample("operator watches"))}
until curl -sf -G --data-urlencode 'query=count_over_time(up{job="svc"}[5m]) > 1 and up == 1' http://127.0.0.1:9090/api/v1/query | grep -q '"value"'; do sleep 1; done
failed=0
while read -r query; do
  curl -s -G --data-urlencode "query=$query" http://127.0.0.1:9090/api/v1/query | grep -q '"status":"success"' || failed=$((failed + 1))
done < /shared/queries
check "queries of the dashboard that fail" "echo $failed of $(wc -l < /shared/queries)"
check rules-loaded "curl -s http://127.0.0.1:9090/api/v1/rules | grep -o '\\"type\\":\\"alerting\\"' | wc -l"
step "backup"
cd /shared
${asOperator(documentExample("operator backs up"))}
step "restore"
${asOperator(documentExample("operator restores"))}
check apps "${APP} | grep -c '\\"name\\": \\"Bread\\"'"
check data "curl -s -o /dev/null -w '%{http_code}' 'http://127.0.0.1:8080/v2/svc/user?fid=3'"
check faults "journalctl --unit svc --output cat | grep '\\"level\\":\\"error\\"' | head -c 500"
check backups "ls /backup"
step "the end"
`,
      shared,
    );
    if (process.env.SVC_TEST_TRANSCRIPT) await Bun.write(process.env.SVC_TEST_TRANSCRIPT, out);
    const checks = checksIn(out);
    expect(checks).toMatchObject({
      user: "svc",
      filesystem: expect.stringContaining("Read-only file system"),
      apps: "1",
      "queries of the dashboard that fail": `0 of ${asked.length}`,
      data: "200",
      // Also what the node does by itself, such as the nightly backup, is allowed to it by the unit.
      faults: "",
      backups: expect.stringMatching(/Z .*Z-state|Z-state .*Z/),
    });
    expect(checks.rules).toMatch(/CapEff:\s*0+ NoNewPrivs:\s*1 Seccomp:\s*2/);
    expect(Number(checks["rules-loaded"])).toBeGreaterThan(10);
    const seconds = Number(/^@@ (\d+) s: the end$/m.exec(out)?.[1]);
    expect(seconds).toBeLessThan(600);
  },
  900_000,
);

/** What systemd says of a unit, as `name=value` of each property. */
const SHOW = "systemctl show svc --property ActiveState,SubState,Result,NRestarts,WatchdogUSec";

test.skipIf(!boots)(
  "systemd waits for /health, restarts a node that hangs, runs several nodes of one package, and a demo network",
  async () => {
    await buildPackage();
    const out = await runOnMachine(
      `
check() { echo "== $1: $(eval "$2" 2>&1 | tr '\\n' ' ')"; }
code() { curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$1/$2"; }
apt-get install -y ./svc_*.deb > /shared/apt 2>&1 || dpkg -i ./svc_*.deb
check installed "${SHOW}"
check health "code 8080 health"
systemctl stop svc
check stopped "${SHOW}"
mkdir -p /etc/systemd/system/svc.service.d
printf '[Service]\\nWatchdogSec=3\\n' > /etc/systemd/system/svc.service.d/watchdog.conf
systemctl daemon-reload
systemctl start svc
# Started means that it responds.
check started "code 8080 health"
pid=$(systemctl show svc --property MainPID --value)
# It lives on over several periods.
sleep 8
check alive "test $pid = $(systemctl show svc --property MainPID --value) && echo same"
kill -STOP $pid
until test "$(systemctl show svc --property NRestarts --value)" = 1; do sleep 0.2; done
until test "$(code 8080 health)" = 200; do sleep 0.2; done
check hung "journalctl --unit svc --output cat | grep -i watchdog"
check restarted "${SHOW}"
kill -9 $(systemctl show svc --property MainPID --value)
until test "$(systemctl show svc --property NRestarts --value)" = 2; do sleep 0.2; done
until test "$(code 8080 health)" = 200; do sleep 0.2; done
for name in a b; do
  port=$(test $name = a && echo 8091 || echo 8092)
  printf '[http]\\nport = %s\\n[hub]\\nport = -1\\n' $port > /etc/svc/$name.toml
  systemctl start svc@$name
  check "node $name" "code $port health; stat -c ' %U' /var/lib/svc-$name"
done
systemctl stop svc svc@a svc@b
check ended "systemctl show svc svc@a svc@b --property Result --value"
svc init --demo --output /etc/svc/svc.toml --force > /shared/init
systemctl start svc
while curl -s http://127.0.0.1:8080/ready | grep -q starting; do sleep 0.2; done
check empty "code 8080 ready; curl -s http://127.0.0.1:8080/ready"
systemctl stop svc
setpriv --reuid=svc --regid=svc --clear-groups svc serve --demo > /shared/demo 2>&1 &
until test "$(code 8080 ready)" = 200; do sleep 0.2; done
kill $!
wait $! || true
systemctl start svc
until test "$(code 8080 ready)" = 200; do sleep 0.2; done
check demo "code 8080 'v2/svc/user?fid=3'"
systemctl stop svc
`,
      shared,
    );
    if (process.env.SVC_TEST_TRANSCRIPT) await Bun.write(process.env.SVC_TEST_TRANSCRIPT, out);
    const checks = checksIn(out);
    expect(checks).toMatchObject({
      health: "200",
      started: "200",
      alive: "same",
      "node a": "200 svc",
      "node b": "200 svc",
      ended: "success  success  success",
      empty: expect.stringMatching(/^503.*svc serve --demo fills it/),
      demo: "200",
    });
    expect(checks.installed).toContain("ActiveState=active SubState=running");
    expect(checks.installed).toContain("WatchdogUSec=2min");
    expect(checks.stopped).toContain("Result=success");
    expect(checks.hung).toMatch(/watchdog/i);
    expect(checks.restarted).toContain("NRestarts=1");
  },
  600_000,
);
