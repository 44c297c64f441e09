import { EXIT_OK, EXIT_USER, UserError } from "../../lib/failure.ts";
import { withDetachedApi } from "../../node/compose/detached-api.ts";
import { listenerUrl } from "../client/node-url.ts";
import { createCommon } from "../common.ts";
import type { CommandContext } from "../context.ts";
import { print } from "../output.ts";
import { withCommandName } from "../shell/command-name.ts";
import type { Fix } from "./fix/fix.ts";
import { sdkReportText } from "./report-text.ts";
import { createSupport } from "./request-support.ts";
import { createSdkReport } from "./sdk-report.ts";
import { readSourceFiles } from "./source-files.ts";

interface SdkReportOptions {
  readonly json?: boolean;
  /** Print the changes instead of the report. */
  readonly fix?: boolean;
  /** Also make the changes. */
  readonly write?: boolean;
  /** The node that the app should call. */
  readonly url?: string | undefined;
}

/**
 * `doctor --sdk`: reads the sources of a folder and prints how this node responds to their calls of the hosted API. The exit code is 1 if
 * a call does not work here or is unclear.
 *
 * @throws UserError if the folder cannot be read.
 */
export async function reportSdkCalls(
  context: CommandContext,
  folder: string,
  { json = false, fix = false, write = false, url }: SdkReportOptions,
): Promise<void> {
  if (write && !fix) throw new UserError("--write needs --fix");
  const common = createCommon(context, { reader: "client" });
  const { config } = common;
  const sources = await readSourceFiles(folder);
  const report = await withDetachedApi(common, async (api) =>
    createSdkReport(folder, sources, createSupport(config, api.compatPlugins()), config),
  );
  if (fix) {
    const { createFix, fixText, writeFix } = await import("./fix/fix.ts");
    const made = createFix(sources, report, url ?? (config.service.public_url || listenerUrl(config.http)));
    if (write) writeFix(folder, made);
    print(json ? `${JSON.stringify(jsonOf(made), null, 2)}\n` : fixText(made, write));
    context.exitCode = made.left.length === 0 && made.unclear.length === 0 ? EXIT_OK : EXIT_USER;
    return;
  }
  print(json ? `${JSON.stringify(report, null, 2)}\n` : withCommandName(sdkReportText(report)));
  context.exitCode = report.ok ? EXIT_OK : EXIT_USER;
}

/** Leaves out the lines, which contain values from sources. */
const jsonOf = ({ files, left, unclear, variables }: Fix) => ({
  files: files.map(({ path, lines }) => ({ path, lines: lines.map(({ line }) => line) })),
  left,
  unclear,
  variables: Object.keys(variables),
});
