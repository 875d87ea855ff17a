"""The methods that GKM is measured against.

===================  =======================================================