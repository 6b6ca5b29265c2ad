// SPDX-License-Identifier: Apache-2.0
// Writes numbers and times for people, always with a unit.

/** @param {number | null | undefined} value per second @returns {string} "21.0k" */
export function rate(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size >= 999_500) return (value / 1e6).toFixed(2) + 'M';
  if (size >= 9_995) return (value / 1e3).toFixed(1) + 'k';
  if (size >= 1_000) return (value / 1e3).toFixed(2) + 'k';
  if (size >= 100 || value === 0) return value.toFixed(0);
  return size >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** @param {number | null | undefined} part 0 .. 1 @returns {string} "49.9 %" */
export function percent(part) {
  if (part === null || part === undefined || !Number.isFinite(part)) return '–';
  return (100 * part).toFixed(Math.abs(part) >= 0.9995 ? 0 : 1) + ' %';
}

/** @param {number | null | undefined} seconds @returns {string} "250 µs" */
export function duration(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return '–';
  if (seconds < 1e-3) return (seconds * 1e6).toFixed(0) + ' µs';
  if (seconds < 1) return (seconds * 1e3).toFixed(seconds < 0.01 ? 2 : 0) + ' ms';
  if (seconds < 120) return seconds.toFixed(seconds < 10 ? 1 : 0) + ' s';
  if (seconds < 7200) return (seconds / 60).toFixed(0) + ' min';
  return (seconds / 3600).toFixed(seconds < 36_000 ? 1 : 0) + ' h';
}

/** @param {number | null | undefined} count @returns {string} "4.0 KiB" */
export function bytes(count) {
  if (count === null || count === undefined) return '–';
  if (count < 1024) return count.toFixed(0) + ' B';
  if (count < 1024 * 1024) return (count / 1024).toFixed(1) + ' KiB';
  return (count / 1024 / 1024).toFixed(1) + ' MiB';
}

/** @param {number} unix seconds since 1970 @param {number} span of the view, in seconds */
export function clock(unix, span = 0) {
  const time = new Date(unix * 1000);
  const two = (/** @type {number} */ n) => String(n).padStart(2, '0');
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} `;
  const seconds = span > 4 * 3600 ? '' : ':' + two(time.getSeconds());
  const is_today = new Date().toDateString() === time.toDateString();
  return (is_today ? '' : day) + two(time.getHours()) + ':' + two(time.getMinutes()) + seconds;
}
