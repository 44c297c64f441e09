import { EXIT_OK, EXIT_USER } from "../../lib/failure.ts";
import { withDetachedApi } from "../../node/compose/detached-api.ts";
import { createCommon } from "../common.ts";
import type { CommandContext } from "../context.ts";
import { print } from "../output.ts";
import { sdkReportText } from "./report-text.ts";
import { createSupport } from "./request-support.ts";
import { createSdkReport } from "./sdk-report.ts";
import { readSourceFiles } from "./source-files.ts";

/**
 * `doctor --sdk`: reads the sources of a folder and prints how this node responds to their calls of the hosted API. The exit code is 1 if one
 * does not work here or is unclear.
 *
 * @throws UserError if the folder cannot be read.
 */
export async function reportSdkCalls(context: CommandContext, folder: string, json: boolean): Promise<void> {
  const common = createCommon(context, { reader: "client" });
  const { config } = common;
  const sources = await readSourceFiles(folder);
  const report = await withDetachedApi(common, async (api) =>
    createSdkReport(folder, sources, createSupport(config, api.compatPlugins()), config),
  );
  print(json ? `${JSON.stringify(report, null, 2)}\n` : sdkReportText(report));
  context.exitCode = report.ok ? EXIT_OK : EXIT_USER;
}
