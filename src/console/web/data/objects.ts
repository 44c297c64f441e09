/** Objects of the native dialect, as far as pages show them. Times are unix seconds. */
export interface User {
  readonly fid: number;
  readonly username: string;
  readonly display_name: string | null;
  readonly custody_address: string | null;
  readonly pfp_url: string | null;
  readonly registered_at: number;
  readonly profile: {
    readonly bio: { readonly text: string };
    readonly location: { readonly latitude: number; readonly longitude: number } | null;
    readonly url: string | null;
  };
  readonly follower_count: number;
  readonly following_count: number;
  readonly verified_addresses: {
    readonly eth_addresses: readonly string[];
    readonly sol_addresses: readonly string[];
  };
  readonly pro: { readonly status: string; readonly expires_at: number } | null;
}

export interface CastEmbed {
  readonly url?: string;
  readonly cast_id?: { readonly fid: number; readonly hash: string };
  readonly cast?: Cast | null;
}

export interface Cast {
  readonly hash: string;
  readonly thread_hash: string;
  readonly parent_hash: string | null;
  readonly parent_url: string | null;
  readonly root_parent_url: string | null;
  readonly parent_author: { readonly fid: number | null };
  readonly author: User;
  readonly text: string;
  readonly timestamp: number;
  readonly embeds: readonly CastEmbed[];
  readonly reactions: { readonly likes_count: number; readonly recasts_count: number };
  readonly replies: { readonly count: number };
  readonly mentioned_profiles: readonly User[];
  readonly mentioned_profiles_ranges: readonly { readonly start: number; readonly end: number }[];
  readonly channel: {
    readonly id: string;
    readonly name: string;
    readonly image_url: string | null;
  } | null;
}

export interface Channel {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly url: string;
  readonly image_url: string | null;
  readonly follower_count: number;
  readonly member_count: number;
  readonly created_at: number;
}
