// biome-ignore-all lint/performance/noBarrelFile: the entry of the package
export type { components, operations, paths } from "./api.generated.ts";
export { ApiFailure, type ClientOptions, createClient, type SvcClient } from "./client.ts";
export { type OpenContext, type ReportOpenOptions, reportOpen } from "./report-open.ts";
export {
  type Eip1193Provider,
  type OperationToSign,
  type Signer,
  signOperation,
  walletSigner,
} from "./sign.ts";
export { type StreamEvent, type StreamOptions, StreamRefused, streamEvents } from "./stream.ts";
export { type Delivery, DeliveryRefused, type VerifyOptions, verifyDelivery } from "./verify-delivery.ts";
