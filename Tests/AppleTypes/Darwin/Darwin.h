/* What the sources that apps are built with use of Apple's C library. */
double sin(double);
double cos(double);
double asin(double);
double atan2(double, double);
/* Of the standard library on Linux, whose interface is read for Apple's platforms. */
unsigned int _swift_stdlib_gettid(void);
