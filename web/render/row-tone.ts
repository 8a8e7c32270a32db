/** The colour of a row's state. */
export type RowTone = 'good' | 'bad' | 'attention' | 'idle';
