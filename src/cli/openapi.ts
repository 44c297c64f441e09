import type { Command } from "commander";
import type { CommandContext } from "./context.ts";
import { print } from "./output.ts";

/** `openapi`: prints the document that a running node serves at /openapi.json. */
export function registerOpenApi(program: Command, context: CommandContext): void {
  program
    .command("openapi")
    .description("print the OpenAPI document of the HTTP interface")
    .action(async () => {
      const { createCommon } = await import("./common.ts");
      const { createHttpServer } = await import("../http/server.ts");
      const { withDetachedApi } = await import("../node/compose/detached-api.ts");
      const { version } = await import("../version.ts");
      const common = createCommon(context, { reader: "client" });
      const document = await withDetachedApi(common, (api) =>
        createHttpServer({
          common,
          version,
          nodeId: common.config.node.id,
          ...api,
          ops: {
            notReadyReason: () => undefined,
            readyFacts: () => ({ degraded: [], isSetUp: true }),
            canBeProven: () => true,
            status: () => ({}),
            metrics: () => ({ text: "", contentType: "" }),
          },
        }).openApi(),
      );
      print(`${JSON.stringify(document, null, 2)}\n`);
    });
}
