/** Aids for tests: the cases that every {@link CacheStore} has to pass. */
export { type StoreCase, type StoreCaseOptions, storeCases, storeRecord } from './store-cases.ts'
