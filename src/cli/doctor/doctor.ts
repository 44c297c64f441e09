import type { Command } from "commander";
import { UserError } from "../../lib/failure.ts";
import { printable } from "../../lib/text.ts";
import type { CommandContext } from "../context.ts";
import { print } from "../output.ts";
import { withCommandName } from "../shell/command-name.ts";
import type { Finding, Level } from "./finding.ts";

interface DoctorOptions {
  readonly sdk?: string;
  readonly fix?: boolean;
  readonly write?: boolean;
  readonly url?: string;
  readonly json?: boolean;
}

const READY_TIMEOUT_MS = 5000;
const MARKS: Readonly<Record<Level, string>> = { ok: "ok  ", warn: "warn", fail: "FAIL" };

/**
 * `doctor`: checks the settings, the machine and the followed node, before a start or next to a running node. With `--sdk` it checks a
 * repository instead.
 */
export function registerDoctor(program: Command, context: CommandContext): void {
  program
    .command("doctor")
    .description(
      "check the settings, this machine and the followed node, and suggest fixes; exit 1 when a check fails",
    )
    .option("--json", "print a JSON object")
    .option(
      "--sdk <dir>",
      "read a repository's sources instead and list which of its calls of the hosted API work",
    )
    .option("--fix", "with --sdk: print a diff that makes the app call this node, and what is left to you")
    .option("--write", "with --fix: change these lines, and no other")
    .option("--url <url>", "with --fix: the address of the node (default: service.public_url)")
    .action(async (options: DoctorOptions) => {
      const { sdk, fix, write, url } = options;
      if (sdk === undefined && [fix, write, url].some((option) => option !== undefined))
        throw new UserError("--fix, --write and --url need --sdk");
      if (sdk === undefined) return await checkNode(context, options);
      const { reportSdkCalls } = await import("../sdk-report/command.ts");
      const { nodeUrl } = await import("../client/node-url.ts");
      await reportSdkCalls(context, sdk, { ...options, url: url && nodeUrl(url).href });
    });
}

async function checkNode(context: CommandContext, { json = false }: DoctorOptions): Promise<void> {
  const { readConfig } = await import("../common.ts");
  const { ConfigError } = await import("../../config/load.ts");
  const { EXIT_OK, EXIT_USER } = await import("../../lib/failure.ts");
  const { resolveBySystem } = await import("../../net/resolve.ts");
  const { systemClock } = await import("../../runtime/clock.ts");
  const { examine } = await import("./examine.ts");
  const { kernelClock } = await import("./machine.ts");
  const { askPlace } = await import("./place.ts");
  const { settingsFindings } = await import("./examine.ts");
  const { ownNodeUrl } = await import("../client/node-url.ts");
  const { probe, probeUrl } = await import("../client/healthcheck.ts");
  let findings: readonly Finding[];
  try {
    const loaded = readConfig(context);
    findings = await examine({
      ...loaded,
      clock: systemClock,
      kernelClock,
      resolve: resolveBySystem,
      askPlace,
      askReady: () => probe(probeUrl(ownNodeUrl(loaded), false), READY_TIMEOUT_MS),
    });
  } catch (fault) {
    if (!(fault instanceof ConfigError)) throw fault;
    findings = settingsFindings(fault.problems);
  }
  const isFit = findings.every(({ level }) => level !== "fail");
  print(
    json
      ? `${JSON.stringify({ ok: isFit, findings }, null, 2)}\n`
      : withCommandName(formatFindings(findings)),
  );
  context.exitCode = isFit ? EXIT_OK : EXIT_USER;
}

function formatFindings(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ check, level, text, advice }) => {
    // Parts of a text may be from the followed node. Line breaks could make them look like findings.
    const line = `${MARKS[level]}  ${check}: ${printable(text)}`;
    return advice === undefined ? [line] : [line, `      ${printable(advice)}`];
  });
  const count = (level: Level) => findings.filter((finding) => finding.level === level).length;
  const [warnings, failures] = [count("warn"), count("fail")];
  lines.push("", `${findings.length} checks: ${failures} failed, ${warnings} with a warning`);
  return `${lines.join("\n")}\n`;
}
