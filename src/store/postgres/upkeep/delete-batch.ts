// The statement that deletes a bounded number of old rows. Rows that another transaction has locked
// are left for the next time. The rows are chosen in a materialized CTE: as a subquery of `in (…)`,
// some plans evaluate it again for every row, and delete more.

/** `$1` is the time or minute that `where` compares with, `$2` the most rows to delete. */
export function deleteBatch({
  table,
  key,
  where,
  order,
}: {
  table: string;
  /** The columns of the primary key. */
  key: readonly string[];
  where: string;
  order: string;
}): string {
  return `
    with old as materialized (
      select ${key.join(', ')} from ${table} where ${where}
      order by ${order} limit $2 for update skip locked)
    delete from ${table} using old
    where ${key.map((column) => `${table}.${column} = old.${column}`).join(' and ')}
    returning ${table}.${key[0]}`;
}
