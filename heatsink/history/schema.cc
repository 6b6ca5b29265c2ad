// SPDX-License-Identifier: Apache-2.0
#include "heatsink/history/schema.h"

#include <array>
#include <string>

#include "heatsink/heat/scale.h"

namespace heatsink::history {
namespace {

// Rates of cells are codes (heatsink/heat/scale.h): a byte says enough. Times are whole seconds
// since 1970.
constexpr const char* kFirst = R"(
CREATE TABLE steps (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- rises: a coarser step is made of the ids after the last
  step_s INTEGER NOT NULL,               -- 1, 10, 60, 600 or 3600
  begin_s INTEGER NOT NULL,
  counted_s INTEGER NOT NULL,            -- seconds of the step that were counted
  window_s REAL,                         -- time that each rate was counted over
  requests REAL, reads REAL, writes REAL, hits REAL,  -- per second, as the rest
  commands REAL, server_commands REAL,
  latency_p50_s REAL, latency_p99_s REAL,
  requests_max REAL,
  unnamed_key_max REAL, unnamed_template_max REAL);
CREATE INDEX steps_by_time ON steps (step_s, begin_s);
CREATE TABLE names (
  id INTEGER PRIMARY KEY,
  kind INTEGER NOT NULL,  -- 0: key, 1: template
  db INTEGER NOT NULL,
  is_cut INTEGER NOT NULL,
  name TEXT NOT NULL,     -- escaped as redis-cli does
  UNIQUE (kind, db, is_cut, name));
CREATE TABLE cells (
  step INTEGER NOT NULL,
  name INTEGER NOT NULL,
  mean INTEGER NOT NULL, max INTEGER NOT NULL, writes INTEGER NOT NULL, hits INTEGER NOT NULL,
  PRIMARY KEY (step, name)) WITHOUT ROWID;
CREATE TABLE happenings (
  id INTEGER PRIMARY KEY,
  at_s REAL NOT NULL,
  what TEXT NOT NULL,
  name TEXT, db INTEGER,
  was TEXT, rule TEXT, rate REAL, share REAL,
  reason TEXT NOT NULL);
CREATE INDEX happenings_by_time ON happenings (at_s);
CREATE TABLE rates (code INTEGER PRIMARY KEY, per_second REAL NOT NULL);
CREATE TABLE rolled_up (step_s INTEGER PRIMARY KEY, last_step INTEGER NOT NULL);

CREATE VIEW totals AS SELECT
  strftime('%Y-%m-%dT%H:%M:%SZ', begin_s, 'unixepoch') AS time, begin_s AS unix,
  step_s AS step_seconds, counted_s AS counted_seconds,
  requests AS requests_per_second, requests_max AS requests_per_second_max,
  reads AS reads_per_second, writes AS writes_per_second, hits AS hits_per_second,
  commands AS client_commands_per_second, server_commands AS server_commands_per_second,
  1 - server_commands / nullif(commands, 0) AS taken_off,
  latency_p50_s AS latency_p50_seconds, latency_p99_s AS latency_p99_seconds,
  unnamed_key_max AS other_keys_per_second_max
  FROM steps;
CREATE VIEW busy_names AS SELECT
  strftime('%Y-%m-%dT%H:%M:%SZ', s.begin_s, 'unixepoch') AS time, s.begin_s AS unix,
  s.step_s AS step_seconds, n.kind AS kind, n.name AS name, n.db AS db, n.is_cut AS name_is_cut,
  mean.per_second AS requests_per_second, highest.per_second AS requests_per_second_max,
  min(1, mean.per_second / nullif(s.requests, 0)) AS share,
  written.per_second AS writes_per_second, hit.per_second AS hits_per_second
  FROM steps s JOIN cells c ON c.step = s.id JOIN names n ON n.id = c.name
  JOIN rates mean ON mean.code = c.mean JOIN rates highest ON highest.code = c.max
  JOIN rates written ON written.code = c.writes JOIN rates hit ON hit.code = c.hits;
CREATE VIEW hot_keys AS SELECT
  time, unix, step_seconds, name, db, name_is_cut, requests_per_second, requests_per_second_max,
  share, writes_per_second, hits_per_second FROM busy_names WHERE kind = 0;
CREATE VIEW hot_templates AS SELECT
  time, unix, step_seconds, name, db, requests_per_second, requests_per_second_max,
  share, writes_per_second, hits_per_second FROM busy_names WHERE kind = 1;
CREATE VIEW events AS SELECT
  strftime('%Y-%m-%dT%H:%M:%fZ', at_s, 'unixepoch') AS time, at_s AS unix, what AS event,
  name, db, was AS before, rule, rate AS requests_per_second, share, reason FROM happenings;
)";

// Slots and nodes of a cluster are names of the kinds 2 and 3.
constexpr const char* kClusters = R"(
ALTER TABLE steps ADD COLUMN node_commands REAL;
ALTER TABLE steps ADD COLUMN unnamed_slot_max REAL;
ALTER TABLE steps ADD COLUMN unnamed_node_max REAL;
CREATE VIEW busy_places AS SELECT
  strftime('%Y-%m-%dT%H:%M:%SZ', s.begin_s, 'unixepoch') AS time, s.begin_s AS unix,
  s.step_s AS step_seconds, n.kind AS kind, n.name AS name,
  mean.per_second AS commands_per_second, highest.per_second AS commands_per_second_max,
  min(1, mean.per_second / nullif(s.node_commands, 0)) AS share
  FROM steps s JOIN cells c ON c.step = s.id JOIN names n ON n.id = c.name
  JOIN rates mean ON mean.code = c.mean JOIN rates highest ON highest.code = c.max
  WHERE n.kind IN (2, 3);
CREATE VIEW busy_slots AS SELECT time, unix, step_seconds, CAST(name AS INTEGER) AS slot,
  commands_per_second, commands_per_second_max, share FROM busy_places WHERE kind = 2;
CREATE VIEW busy_nodes AS SELECT time, unix, step_seconds, name AS node,
  commands_per_second, commands_per_second_max, share FROM busy_places WHERE kind = 3;
)";

// Clients are names of the kind 4. A hit spares the servers the same CPU time, whatever key it is
// of: the sum over the keys is what all hits spared.
constexpr const char* kBytesAndCpu = R"(
ALTER TABLE steps ADD COLUMN bytes REAL;             -- per second
ALTER TABLE steps ADD COLUMN server_cpu REAL;        -- seconds per second
ALTER TABLE steps ADD COLUMN server_cpu_spared REAL;
ALTER TABLE steps ADD COLUMN client_commands REAL;
ALTER TABLE steps ADD COLUMN unnamed_client_max REAL;
ALTER TABLE cells ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;  -- a code, of KiB per second
DROP VIEW totals;
CREATE VIEW totals AS SELECT
  strftime('%Y-%m-%dT%H:%M:%SZ', begin_s, 'unixepoch') AS time, begin_s AS unix,
  step_s AS step_seconds, counted_s AS counted_seconds,
  requests AS requests_per_second, requests_max AS requests_per_second_max,
  reads AS reads_per_second, writes AS writes_per_second, hits AS hits_per_second,
  bytes AS bytes_per_second,
  commands AS client_commands_per_second, server_commands AS server_commands_per_second,
  1 - server_commands / nullif(commands, 0) AS taken_off,
  server_cpu AS server_cpu_cores, server_cpu_spared AS server_cpu_spared_cores,
  latency_p50_s AS latency_p50_seconds, latency_p99_s AS latency_p99_seconds,
  unnamed_key_max AS other_keys_per_second_max
  FROM steps;
DROP VIEW hot_keys;
DROP VIEW hot_templates;
DROP VIEW busy_names;
CREATE VIEW busy_names AS SELECT
  strftime('%Y-%m-%dT%H:%M:%SZ', s.begin_s, 'unixepoch') AS time, s.begin_s AS unix,
  s.step_s AS step_seconds, n.kind AS kind, n.name AS name, n.db AS db, n.is_cut AS name_is_cut,
  mean.per_second AS requests_per_second, highest.per_second AS requests_per_second_max,
  min(1, mean.per_second / nullif(s.requests, 0)) AS share,
  written.per_second AS writes_per_second, hit.per_second AS hits_per_second,
  CASE WHEN s.bytes IS NOT NULL THEN 1024 * size.per_second END AS bytes_per_second,
  hit.per_second * s.server_cpu_spared / nullif(s.hits, 0) AS server_cpu_spared_cores
  FROM steps s JOIN cells c ON c.step = s.id JOIN names n ON n.id = c.name
  JOIN rates mean ON mean.code = c.mean JOIN rates highest ON highest.code = c.max
  JOIN rates written ON written.code = c.writes JOIN rates hit ON hit.code = c.hits
  JOIN rates size ON size.code = c.bytes;
CREATE VIEW hot_keys AS SELECT
  time, unix, step_seconds, name, db, name_is_cut, requests_per_second, requests_per_second_max,
  share, writes_per_second, hits_per_second, bytes_per_second, server_cpu_spared_cores
  FROM busy_names WHERE kind = 0;
CREATE VIEW hot_templates AS SELECT
  time, unix, step_seconds, name, db, requests_per_second, requests_per_second_max,
  share, writes_per_second, hits_per_second, bytes_per_second, server_cpu_spared_cores
  FROM busy_names WHERE kind = 1;
CREATE VIEW busy_clients AS SELECT
  strftime('%Y-%m-%dT%H:%M:%SZ', s.begin_s, 'unixepoch') AS time, s.begin_s AS unix,
  s.step_s AS step_seconds, n.name AS client,
  mean.per_second AS commands_per_second, highest.per_second AS commands_per_second_max,
  min(1, mean.per_second / nullif(s.client_commands, 0)) AS share
  FROM steps s JOIN cells c ON c.step = s.id JOIN names n ON n.id = c.name
  JOIN rates mean ON mean.code = c.mean JOIN rates highest ON highest.code = c.max
  WHERE n.kind = 4;
)";

// Bytes have a scale of their own (heatsink/heat/scale.h); kBytesOfVersion3 is the same change of
// codes.
constexpr const char* kBytesFromOne = R"(
CREATE TABLE byte_rates (code INTEGER PRIMARY KEY, per_second REAL NOT NULL);
INSERT INTO byte_rates VALUES (0, 0);
WITH RECURSIVE scale (code, per_second) AS (
  SELECT 1, 1.0 UNION ALL
  SELECT code + 1, per_second * 1.0905077326652577 FROM scale WHERE code < 255)
  INSERT INTO byte_rates SELECT code, per_second FROM scale;
UPDATE cells SET bytes = 81 + CAST(round((bytes - 1) * 2 / 3.0) AS INTEGER) WHERE bytes > 0;
DROP VIEW hot_keys;
DROP VIEW hot_templates;
DROP VIEW busy_names;
CREATE VIEW busy_names AS SELECT
  strftime('%Y-%m-%dT%H:%M:%SZ', s.begin_s, 'unixepoch') AS time, s.begin_s AS unix,
  s.step_s AS step_seconds, n.kind AS kind, n.name AS name, n.db AS db, n.is_cut AS name_is_cut,
  mean.per_second AS requests_per_second, highest.per_second AS requests_per_second_max,
  min(1, mean.per_second / nullif(s.requests, 0)) AS share,
  written.per_second AS writes_per_second, hit.per_second AS hits_per_second,
  CASE WHEN s.bytes IS NOT NULL THEN size.per_second END AS bytes_per_second,
  hit.per_second * s.server_cpu_spared / nullif(s.hits, 0) AS server_cpu_spared_cores
  FROM steps s JOIN cells c ON c.step = s.id JOIN names n ON n.id = c.name
  JOIN rates mean ON mean.code = c.mean JOIN rates highest ON highest.code = c.max
  JOIN rates written ON written.code = c.writes JOIN rates hit ON hit.code = c.hits
  JOIN byte_rates size ON size.code = c.bytes;
CREATE VIEW hot_keys AS SELECT
  time, unix, step_seconds, name, db, name_is_cut, requests_per_second, requests_per_second_max,
  share, writes_per_second, hits_per_second, bytes_per_second, server_cpu_spared_cores
  FROM busy_names WHERE kind = 0;
CREATE VIEW hot_templates AS SELECT
  time, unix, step_seconds, name, db, requests_per_second, requests_per_second_max,
  share, writes_per_second, hits_per_second, bytes_per_second, server_cpu_spared_cores
  FROM busy_names WHERE kind = 1;
)";

constexpr std::array kScripts{kFirst, kClusters, kBytesAndCpu, kBytesFromOne};

void fill_rates(Database& database) {
  Statement insert(database, "INSERT OR IGNORE INTO rates VALUES (?, ?)");
  for (int code = 0; code < 256; ++code)
    insert.bind(code, heat::rate_of(static_cast<heat::RateCode>(code))).finish();
}

}  // namespace

std::span<const char* const> migrations() { return kScripts; }

FileState look_at(Database& database, std::span<const char* const> scripts) {
  const std::int64_t tables = database.number("SELECT count(*) FROM sqlite_schema");
  const std::int64_t application = database.number("PRAGMA application_id");
  const std::int64_t version = database.number("PRAGMA user_version");
  if (!database.ok()) return FileState::kUnusable;
  if (application != kApplicationId)
    return tables == 0 && application == 0 ? FileState::kCurrent : FileState::kForeign;
  return version > static_cast<std::int64_t>(scripts.size()) ? FileState::kNewer
                                                             : FileState::kCurrent;
}

FileState prepare(Database& database, std::span<const char* const> scripts) {
  const FileState found = look_at(database, scripts);
  if (found != FileState::kCurrent) return found;
  const std::int64_t wanted = static_cast<std::int64_t>(scripts.size());
  if (database.number("PRAGMA user_version") == wanted) return FileState::kCurrent;
  Transaction transaction(database);
  // Another process may have done it meanwhile.
  const auto version = static_cast<std::size_t>(database.number("PRAGMA user_version"));
  for (std::size_t i = version; i < scripts.size(); ++i) database.run(scripts[i]);
  if (version == 0) {
    fill_rates(database);
    database.run(("PRAGMA application_id = " + std::to_string(kApplicationId)).c_str());
  }
  database.run(("PRAGMA user_version = " + std::to_string(wanted)).c_str());
  return transaction.commit() ? FileState::kCurrent : FileState::kUnusable;
}

}  // namespace heatsink::history
