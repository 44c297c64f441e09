import { createServer } from "node:net";
import { join } from "node:path";
import { documentExample } from "./documents.ts";

/** Proxies that are installed here, in front of a node, with the documented configurations. */

export interface ProxyNames {
  readonly dir: string;
  /** Ports of the two sites. */
  readonly apiPort: number;
  readonly hubPort: number;
  /** Ports of the node. */
  readonly nodePort: number;
  readonly nodeHubPort: number;
  /** Files with a certificate for `localhost`. */
  readonly certificate: string;
  readonly key: string;
}

export interface RunningProxy {
  readonly name: string;
  readonly url: string;
  readonly hubAddress: string;
  stop(): Promise<void>;
}

/** Writes a documented configuration with the ports and files of a test, and returns the command that runs it. */
type Prepare = (names: ProxyNames) => Promise<string[]>;

const toNode = (config: string, { nodePort, nodeHubPort }: ProxyNames) =>
  config
    .replaceAll("127.0.0.1:8080", `127.0.0.1:${nodePort}`)
    .replaceAll("127.0.0.1:3383", `127.0.0.1:${nodeHubPort}`);

const PREPARE: Readonly<Record<string, Prepare>> = {
  async caddy(names) {
    const { dir, apiPort, hubPort, certificate, key } = names;
    const site = (port: number) =>
      `https://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${certificate} ${key}\n`;
    const config = toNode(documentExample("Caddyfile"), names)
      .replace("{\n\tservers", "{\n\tadmin off\n\tauto_https disable_redirects\n\tservers")
      .replace("api.example.com {\n", site(apiPort))
      .replace("hub.example.com {\n", site(hubPort));
    await Bun.write(join(dir, "Caddyfile"), config);
    return ["caddy", "run", "--adapter", "caddyfile", "--config", join(dir, "Caddyfile")];
  },
  async nginx(names) {
    const { dir, apiPort, hubPort, certificate, key } = names;
    const sites = toNode(documentExample("nginx"), names)
      .replace("listen 443", `listen 127.0.0.1:${apiPort}`)
      .replace("listen 443", `listen 127.0.0.1:${hubPort}`)
      .replaceAll(/\w+\.example\.com;/g, "localhost;")
      .replaceAll("/etc/ssl/api.example.com.pem", certificate)
      .replaceAll("/etc/ssl/api.example.com.key", key);
    const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (name) => `${name}_temp_path ${dir}/${name};`,
    );
    const user = process.getuid?.() === 0 ? "user root;" : "";
    await Bun.write(
      join(dir, "nginx.conf"),
      `${user} daemon off; pid ${dir}/pid; error_log ${dir}/error.log; events {}
       http { access_log off; ${paths.join(" ")} ${sites} }`,
    );
    return ["nginx", "-p", dir, "-e", `${dir}/error.log`, "-c", join(dir, "nginx.conf")];
  },
};

/** The documented proxies that are installed. */
export const INSTALLED_PROXIES = Object.keys(PREPARE).filter((name) => Bun.which(name) !== null);

/** Starts an installed proxy; it may listen a moment later. */
export async function startProxy(
  name: string,
  options: Omit<ProxyNames, "apiPort" | "hubPort">,
): Promise<RunningProxy> {
  const [apiPort, hubPort] = [await freePort(), await freePort()];
  const command = await PREPARE[name]?.({ ...options, apiPort, hubPort });
  if (!command) throw new Error(`there is no configuration of ${name}`);
  const env = { PATH: process.env.PATH ?? "", HOME: options.dir };
  const child = Bun.spawn(command, {
    env,
    stdout: "ignore",
    stderr: Bun.file(join(options.dir, `${name}.log`)),
  });
  return {
    name,
    url: `https://localhost:${apiPort}`,
    hubAddress: `localhost:${hubPort}`,
    async stop() {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

/** A port of the loopback address that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
