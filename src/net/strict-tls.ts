/** For every outgoing TLS connection: certificates are verified, whatever NODE_TLS_REJECT_UNAUTHORIZED says. */
export const STRICT_TLS = { rejectUnauthorized: true } as const;
