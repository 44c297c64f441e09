import { describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { join } from "node:path";
import { callSigned, signedRequest, startCluster, until } from "../support/cluster.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { documentExample } from "../support/documents.ts";
import { IS_LONG } from "../support/long.ts";
import { HAS_POSTGRES } from "../support/postgres/server.ts";
import { type RunningNode, tempDir } from "../support/program.ts";

/** The documented load balancers in front of two nodes, where they are installed. */

const FID = 3;
const DOCUMENTED = ["10.0.0.11:8080", "10.0.0.12:8080"];
/** 40 requests a second. */
const REQUEST_MS = 25;
const MANAGEMENT_MS = 200;
/** As the documents say. */
const SETTINGS = [
  "http.drain_delay_secs=5",
  "service.shutdown_deadline_secs=20",
  "apps.max_apps_per_owner=1000",
];

interface Balancer {
  readonly name: string;
  /** The documented configuration for other addresses, without TLS, and the command that runs it. */
  prepare(options: {
    readonly dir: string;
    readonly port: number;
    readonly nodes: readonly string[];
  }): Promise<string[]>;
}

const withNodes = (config: string, nodes: readonly string[]) =>
  DOCUMENTED.reduce((text, address, at) => text.replaceAll(address, nodes[at] ?? ""), config);

const BALANCERS: readonly Balancer[] = [
  {
    name: "caddy",
    async prepare({ dir, port, nodes }) {
      const site = withNodes(documentExample("balancer Caddyfile"), nodes);
      const config = `{\n\tadmin off\n}\n${site.replace("api.example.com", `http://127.0.0.1:${port}`)}`;
      await Bun.write(join(dir, "Caddyfile"), config);
      return ["caddy", "run", "--adapter", "caddyfile", "--config", join(dir, "Caddyfile")];
    },
  },
  {
    name: "nginx",
    async prepare({ dir, port, nodes }) {
      const server = withNodes(documentExample("balancer nginx"), nodes)
        .replace("listen 443 ssl;", `listen 127.0.0.1:${port};`)
        .replace(/ssl_\w+ +\S+;/g, "");
      const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
        (name) => `${name}_temp_path ${dir}/${name};`,
      );
      const user = process.getuid?.() === 0 ? "user root;" : "";
      await Bun.write(
        join(dir, "nginx.conf"),
        `${user} daemon off; pid ${dir}/pid; error_log ${dir}/error.log; events {}
         http { access_log off; ${paths.join(" ")} ${server} }`,
      );
      return ["nginx", "-p", dir, "-e", `${dir}/error.log`, "-c", join(dir, "nginx.conf")];
    },
  },
];

describe.each(BALANCERS)("$name", ({ name, prepare }) => {
  test.skipIf(!HAS_POSTGRES || !IS_LONG || Bun.which(name) === null)(
    "loses no read while one of two nodes is killed, and both are restarted; signed requests pass unchanged, and none is repeated",
    async () => {
      await using cluster = await startCluster({ seed: `behind ${name}`, command: compiledProgram });
      using dir = tempDir();
      const ports = [await freePort(), await freePort()];
      const start = (at: number) =>
        cluster.start(at === 0 ? "a" : "b", ...SETTINGS, `http.port=${ports[at]}`);
      const nodes = await Promise.all([start(0), start(1)]);
      const port = await freePort();
      const command = await prepare({ dir: dir.path, port, nodes: ports.map((own) => `127.0.0.1:${own}`) });
      const env = { PATH: process.env.PATH ?? "", HOME: dir.path };
      const balancer = Bun.spawn(command, { env, stdout: "ignore", stderr: "ignore" });
      const at = { url: `http://127.0.0.1:${port}` };
      try {
        const read = () => fetch(`${at.url}/v2/svc/user/bulk?fids=${FID},2`).catch((cause) => cause);
        await until(async () => (await read()).ok === true, "the balancer works");

        const served = new Set<string | null>();
        await until(async () => {
          served.add((await read()).headers?.get("x-svc-node"));
          return served.has("a") && served.has("b");
        }, "both nodes are used");
        for (const path of ["/status", "/metrics", "/ready", "/health"])
          expect([path, (await fetch(at.url + path)).status]).toEqual([path, 404]);
        for (const path of [
          "/docs",
          "/openapi.json",
          "/v2/svc/user?fid=%33",
          "/v2/svc/cast?identifier=a%2Fb%20&type=url",
        ]) {
          const direct = await fetch(`${nodes[0]?.url}${path}`);
          const through = await fetch(at.url + path);
          expect([path, through.status, await through.text()]).toEqual([
            path,
            direct.status,
            await direct.text(),
          ]);
        }

        const failures: string[] = [];
        const statuses: number[] = [];
        const made: string[] = [];
        let isOver = false;
        let reads = 0;
        const reading = (async () => {
          const waiting = new Set<Promise<unknown>>();
          while (!isOver) {
            reads += 1;
            const asked = read().then((response) => {
              if (!(response instanceof Response) || response.status !== 200)
                failures.push(response instanceof Response ? `${response.status}` : `${response}`);
              waiting.delete(asked);
            });
            waiting.add(asked);
            await Bun.sleep(REQUEST_MS);
          }
          await Promise.all(waiting);
        })();
        const managing = (async () => {
          for (let n = 0; !isOver; n++) {
            const app = { name: `app ${n}`, app_url: "https://127.0.0.1" };
            const send = await signedRequest(FID, "POST", "/frame/app", app);
            const { status } = await send(at);
            statuses.push(status);
            if (status === 200) made.push(app.name);
            await Bun.sleep(MANAGEMENT_MS);
          }
        })();
        await Bun.sleep(1_000);
        await nodes[0]?.kill();
        await Bun.sleep(3_000);
        nodes[0] = await start(0);
        await Bun.sleep(3_000);
        for (const which of [0, 1]) {
          expect(await (nodes[which] as RunningNode).stop()).toBe(0);
          nodes[which] = await start(which);
          await Bun.sleep(3_000);
        }
        isOver = true;
        await Promise.all([reading, managing]);
        expect(failures).toEqual([]);
        expect(reads).toBeGreaterThan(400);
        // 401 would be a nonce that was used before: a repeated request.
        expect(statuses.filter((status) => ![200, 502, 503, 504].includes(status))).toEqual([]);
        expect(made.length).toBeGreaterThan(50);
        const { apps } = (await callSigned(at, FID, "GET", "/frame/app/list")).body;
        const names = (apps as { name: string }[]).map((app) => app.name);
        expect(made.filter((app) => !names.includes(app))).toEqual([]);
        console.log(
          `${name}: ${reads} reads, of ${statuses.length} signed requests ${made.length} succeeded`,
        );
      } finally {
        balancer.kill("SIGTERM");
        await balancer.exited;
      }
    },
    180_000,
  );
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
