import agents from "../../../docs/agents.md" with { type: "text" };
import apiKeys from "../../../docs/api-keys.md" with { type: "text" };
import appsAndPush from "../../../docs/apps-and-push.md" with { type: "text" };
import channels from "../../../docs/channels.md" with { type: "text" };
import client from "../../../docs/client.md" with { type: "text" };
import console from "../../../docs/console.md" with { type: "text" };
import followTheNetwork from "../../../docs/follow-the-network.md" with { type: "text" };
import gettingStarted from "../../../docs/getting-started.md" with { type: "text" };
import hub from "../../../docs/hub.md" with { type: "text" };
import importing from "../../../docs/import.md" with { type: "text" };
import manyNodes from "../../../docs/many-nodes.md" with { type: "text" };
import movingFromAHostedApi from "../../../docs/moving-from-a-hosted-api.md" with { type: "text" };
import operateBackup from "../../../docs/operate/backup.md" with { type: "text" };
import operateCapacity from "../../../docs/operate/capacity.md" with { type: "text" };
import operateInstall from "../../../docs/operate/install.md" with { type: "text" };
import operateSettings from "../../../docs/operate/settings.md" with { type: "text" };
import operateWatch from "../../../docs/operate/watch.md" with { type: "text" };
import protocolChoices from "../../../docs/protocol-choices.md" with { type: "text" };
import proxies from "../../../docs/proxies.md" with { type: "text" };
import readme from "../../../docs/README.md" with { type: "text" };
import scores from "../../../docs/scores.md" with { type: "text" };
import signIn from "../../../docs/sign-in.md" with { type: "text" };
import signers from "../../../docs/signers.md" with { type: "text" };
import stream from "../../../docs/stream.md" with { type: "text" };
import transactions from "../../../docs/transactions.md" with { type: "text" };
import webhooks from "../../../docs/webhooks.md" with { type: "text" };
import writing from "../../../docs/writing.md" with { type: "text" };

/** The pages of `docs/` by their path there without its ending, as this program was built with them. `README` is the list of the others. */
export const DOCS_PAGES: Readonly<Record<string, string>> = {
  README: readme,
  agents: agents,
  "api-keys": apiKeys,
  "apps-and-push": appsAndPush,
  channels: channels,
  client: client,
  console: console,
  "follow-the-network": followTheNetwork,
  "getting-started": gettingStarted,
  hub: hub,
  import: importing,
  "many-nodes": manyNodes,
  "moving-from-a-hosted-api": movingFromAHostedApi,
  "operate/backup": operateBackup,
  "operate/capacity": operateCapacity,
  "operate/install": operateInstall,
  "operate/settings": operateSettings,
  "operate/watch": operateWatch,
  "protocol-choices": protocolChoices,
  proxies: proxies,
  scores: scores,
  "sign-in": signIn,
  signers: signers,
  stream: stream,
  transactions: transactions,
  webhooks: webhooks,
  writing: writing,
};
