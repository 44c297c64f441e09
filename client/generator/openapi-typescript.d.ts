/** What the generator uses of its package, whose types need another TypeScript than the project. */
declare module "openapi-typescript" {
  /** A statement of TypeScript. */
  interface Statement {
    readonly kind: number;
  }
  /** @param source an OpenAPI document as JSON */
  export default function openapiTS(source: string): Promise<readonly Statement[]>;
  export function astToString(statements: readonly Statement[]): string;
}
