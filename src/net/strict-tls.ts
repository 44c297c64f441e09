/** Options of every outgoing TLS connection: certificates are verified regardless of NODE_TLS_REJECT_UNAUTHORIZED. */
export const STRICT_TLS = { rejectUnauthorized: true } as const;
