import { Elysia } from "elysia";
import { ApiError } from "../../http/errors.ts";
import { operation } from "../../http/operation.ts";
import { address, addressList, fid, fidList, text } from "../../http/params.ts";
import { answer, presentUsers, type Reads } from "../../read/answers.ts";
import { presentUser } from "../../read/present/user.ts";
import {
  fidByCustodyAddress,
  fidByUsername,
  fidByXUsername,
  fidsByVerifiedAddress,
} from "../../read/skeleton/users.ts";
import { UserResponse, UsersResponse } from "../objects.ts";

const tags = ["Users"];

/** Users by what identifies them: fid, name, custody address, verified addresses, name on X. */
export function userRoutes(reads: Reads) {
  const userOrNotFound = (find: () => number | undefined, message: string) => ({
    user: answer(
      reads,
      find,
      (found) => ({ fids: found === undefined ? [] : [found] }),
      (found, hydration) => {
        const user = found === undefined ? undefined : presentUser(found, hydration);
        if (!user) throw new ApiError("notFound", message);
        return user;
      },
    ),
  });

  const byUsername = (operationId: string) =>
    operation({
      operationId,
      summary: "The user of a name",
      description: "Matches a live fname, ENS name or basename exactly, case included.",
      tags,
      query: { username: text({ description: "Without a leading @", examples: ["user3"] }) },
      response: UserResponse,
      errors: ["notFound"],
    });
  const findByUsername = ({ query }: { query: { username: string } }) =>
    userOrNotFound(() => fidByUsername(reads.db, query.username), "no user has this name");

  return new Elysia({ name: "users" })
    .get(
      "/user",
      ({ query }) => userOrNotFound(() => query.fid, "no user has this fid"),
      operation({
        operationId: "getUser",
        summary: "One user",
        tags,
        query: { fid: fid() },
        response: UserResponse,
        errors: ["notFound"],
      }),
    )
    .get(
      "/user/bulk",
      ({ query }) => ({
        users: answer(
          reads,
          () => query.fids,
          (fids) => ({ fids }),
          presentUsers,
        ),
      }),
      operation({
        operationId: "getUsers",
        summary: "Users by fid, in the order asked; those that do not exist are left out",
        tags,
        query: { fids: fidList({ maxItems: reads.maxIds }) },
        response: UsersResponse,
      }),
    )
    .get(
      "/user/bulk-by-address",
      ({ query }) => ({
        users: answer(
          reads,
          (db) => fidsByVerifiedAddress(db, query.addresses),
          (fids) => ({ fids }),
          presentUsers,
        ),
      }),
      operation({
        operationId: "getUsersByAddress",
        summary: "Users by verified Ethereum addresses",
        description:
          "In the order of the addresses, of one address the lower fid first, each user once. Custody addresses " +
          "do not count. At most 1,000 users.",
        tags,
        query: { addresses: addressList({ maxItems: reads.maxIds }) },
        response: UsersResponse,
      }),
    )
    .get("/user/by-username", findByUsername, byUsername("getUserByUsername"))
    .get("/user/by_username", findByUsername, byUsername("getUserByUsernameAlias"))
    .get(
      "/user/custody-address",
      ({ query }) =>
        userOrNotFound(
          () => fidByCustodyAddress(reads.db, query.custody_address),
          "no user is in the custody of this address",
        ),
      operation({
        operationId: "getUserByCustodyAddress",
        summary: "The user whose custody address this is now; of several the one with the lowest fid",
        tags,
        query: { custody_address: address() },
        response: UserResponse,
        errors: ["notFound"],
      }),
    )
    .get(
      "/user/by_x_username",
      ({ query }) =>
        userOrNotFound(() => fidByXUsername(reads.db, query.username), "no user has this name on X"),
      operation({
        operationId: "getUserByXUsername",
        summary:
          "The user that declares this name on X, whatever the case; of several the one with the lowest fid",
        tags,
        query: { username: text({ description: "Without a leading @", examples: ["alice"] }) },
        response: UserResponse,
        errors: ["notFound"],
      }),
    )
    .get(
      "/user/verifications",
      ({ query }) => userOrNotFound(() => query.fid, "no user has this fid"),
      operation({
        operationId: "getUserVerifications",
        summary: "One user, for its verified addresses",
        tags,
        query: { fid: fid() },
        response: UserResponse,
        errors: ["notFound"],
      }),
    );
}
