export const FORMAT_MAJOR = 1;
export const FORMAT_MINOR = 0;
